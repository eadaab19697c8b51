// Everything other than arrays that multi-head attention depends on. Names are PyTorch's where it has one.
// Sources: torch.nn.MultiheadAttention, F.multi_head_attention_forward, F.scaled_dot_product_attention; "Attention Is
// All You Need", section 3.2.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

enum class Op { multi_head_attention, scaled_dot_product_attention };
enum class CausalAlignment { top_left, bottom_right };
// What the softmax makes of a row whose masked scores are all -inf.
enum class FullyMaskedRows { nan, zero };

struct AttentionOptions {
  Op op = Op::multi_head_attention;
  Index embed_dim = 128;   // E
  Index num_heads = 8;     // H
  Index num_kv_heads = 8;  // G, divides H; each key/value head serves H/G adjacent query heads
  Index kdim = 128;        // width of key
  Index vdim = 128;        // width of value
  Index head_dim = 16;     // D
  Index v_head_dim = 16;   // Dv
  bool add_zero_attn = false;
  // Rotary position embedding (core/attention/rotary_embedding.h): q and k are rotated by their positions, unless rotary_base is null and
  // the frequencies are empty. With a base, a finite number > 0, pair j of D/2 rotates by base^(−2j/D) per position; alternatively the
  // frequencies are given, at most D/2 of them. Not both; not together with appended rows or static_k.
  std::optional<double> rotary_base;
  std::vector<double> rotary_inverse_frequencies;
  std::optional<double> scale;  // null: 1/√D
  double softcap = 0.0;         // c > 0: c·tanh(x/c) after scale and temperature, before the masks
  // Finite, > 0: every number of q, k and v is clamped to [−clip, clip] at the split into heads (OLMo's clip_qkv).
  std::optional<double> clip_qkv;
  double temperature = 1.0;  // > 0; divides the scaled scores
  double dropout = 0.0;      // probability in [0,1]; survivors divided by 1-p
  std::uint64_t dropout_seed = 0;
  bool need_weights = true;
  bool average_attn_weights = true;
  bool residual = false;    // residual_output = query + output
  bool layer_norm = false;  // layer_norm_output = LayerNorm over E of residual_output (or of output), eps 1e-5
  bool is_causal = false;
  CausalAlignment causal_alignment = CausalAlignment::top_left;
  std::optional<Index> sliding_window;  // >= 1
  bool alibi = false;
  double alibi_scale = 1.0;          // finite; multiplies ALiBi's slopes (Falcon's bias is divided by √D)
  std::optional<double> mask_value;  // finite: FILLS blocked cells; null: -inf is added
  FullyMaskedRows fully_masked_rows = FullyMaskedRows::nan;
  std::vector<double> head_gain;  // one per head; empty: all 1
  // Heads with frozen weights: slice f of frozen_weights (N,F,L,S′) replaces the weights of head frozen_heads[f]. Each in
  // [0,H), no duplicates. Neither masks nor dropout apply to them.
  std::vector<Index> frozen_heads;

  friend bool operator==(const AttentionOptions&, const AttentionOptions&) = default;
};

}  // namespace headwise
