// The names of all tensors: the same everywhere, in files, on the command line, in panels and in tests.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/tensor/tensor.h"

namespace headwise {

// One member per tensor, in the order of computation; null if the scenario has no such tensor. The same
// struct holds the values and, in Trace::grad, d(loss)/d(each of them).
struct TraceTensors {
  // The operator's inputs
  // (N,L,E)      scaled_dot_product_attention has no query, key, value: they are q_heads, k_heads, v_heads
  TensorPtr query;
  TensorPtr key;         // (N,S,kdim)   the same pointer as query in self-attention
  TensorPtr value;       // (N,S,vdim)
  TensorPtr past_key;    // (N,G,P,D)    as they lie in a cache, before the new keys; null: no past
  TensorPtr past_value;  // (N,G,P,Dv)
  // The cache of multi_head_latent_attention: latents after their norm, and keys that are rotated already
  TensorPtr past_compressed_kv;  // (N,P,C)
  TensorPtr past_k_rot;          // (N,1,P,R)
  // Parameters, under PyTorch's names
  TensorPtr in_proj_weight;  // (H·D+G·D+G·Dv, E): rows of q, k, v; (3E,E) in PyTorch's module
  TensorPtr q_proj_weight;   // (H·D,E)        if the projections are separate
  TensorPtr k_proj_weight;   // (G·D,kdim)
  TensorPtr v_proj_weight;   // (G·Dv,vdim)
  TensorPtr in_proj_bias;    // (H·D+G·D+G·Dv)
  // Of multi_head_latent_attention (core/attention/latent_attention.h), under DeepSeek's names
  TensorPtr q_a_weight;        // (Cq,E)            "q_a_proj.weight", if options.q_lora_rank is set
  TensorPtr q_a_bias;          // (Cq)              "q_a_proj.bias"
  TensorPtr q_a_norm_weight;   // (Cq)              "q_a_layernorm.weight"; null: all 1
  TensorPtr q_b_weight;        // (H·D,Cq)          "q_b_proj.weight"; without q_lora_rank q_proj_weight
  TensorPtr kv_a_weight;       // (C+R,kdim)        "kv_a_proj_with_mqa.weight"
  TensorPtr kv_a_bias;         // (C+R)             "kv_a_proj_with_mqa.bias"
  TensorPtr kv_a_norm_weight;  // (C)               "kv_a_layernorm.weight"; null: all 1
  TensorPtr kv_b_weight;       // (H·(Dn+Dv),C)     "kv_b_proj.weight": of each head W_UK, then W_UV
  TensorPtr q_norm_weight;  // (D), (H,D) or (H·D)   "q_norm.weight", if options.qk_norm is set; null: all 1
  TensorPtr k_norm_weight;  // (D), (G,D) or (G·D)   "k_norm.weight"
  TensorPtr sinks;          // (H)            the logit beside each row of a head; null: none
  // (buckets,H)    "relative_attention_bias.weight", if options.relative_bias is set
  TensorPtr relative_bias_weight;
  // "indexer.…", if options.indexer is set; only in multi_head_attention
  TensorPtr indexer_wq_b;           // (Hi·W,E)    "indexer.wq_b.weight"
  TensorPtr indexer_wk;             // (W,kdim)    "indexer.wk.weight"
  TensorPtr indexer_k_norm_weight;  // (W)         null: all 1
  TensorPtr indexer_k_norm_bias;    // (W)         null: all 0
  TensorPtr indexer_weights_proj;   // (Hi,E)      "indexer.weights_proj.weight"
  TensorPtr bias_k;                 // (G·D)          appended to k; (1,1,E) in PyTorch
  TensorPtr bias_v;                 // (G·Dv)
  TensorPtr static_k;               // (N,G,S,D)      (N·G,S,D) in PyTorch; replaces k
  TensorPtr static_v;               // (N,G,S,Dv)
  TensorPtr output_gate_weight;  // (H·Dv,E) or (H,E)   "output_gate.weight", if options.output_gate is set
  TensorPtr output_gate_bias;    // (H·Dv) or (H)
  TensorPtr out_proj_weight;     // (E,H·Dv)       "out_proj.weight"
  TensorPtr out_proj_bias;       // (E)            "out_proj.bias"
  // Masks as given, f32/f64 or bool, in their own rank; the gains; the frozen weights
  TensorPtr attn_mask;         // (L,S) (N·H,L,S) or, for SDPA, anything that broadcasts to (N,H,L,S)
  TensorPtr key_padding_mask;  // (N,S)          True is ignored
  TensorPtr valid_lens;        // (N) or (N,L), i64
  TensorPtr nonpad_kv_seqlen;  // (N), i64       keys from that length on are blocked; its last is the last query's
  TensorPtr head_gain;         // (H)            "heads.gain"
  TensorPtr frozen_weights;  // (N,F,L,S′)     f32 or f64; slice f: the weights of head options.frozen_heads[f]. No gradient
  // What q is made of in multi_head_latent_attention with q_lora_rank
  TensorPtr q_a;           // (N,L,Cq)
  TensorPtr compressed_q;  // (N,L,Cq)       q_a normalised
  // After the input projection, with bias_k / bias_v and the zero row appended
  TensorPtr q;  // (N,L,H·D)
  TensorPtr k;  // (N,S′,G·D)
  TensorPtr v;  // (N,S′,G·Dv)
  // Of multi_head_latent_attention, which has no k and v
  TensorPtr kv_a;           // (N,S,C+R)
  TensorPtr compressed_kv;  // (N,S,C)        its first C columns, normalised: what a cache keeps
  TensorPtr k_rot;          // (N,1,S,R)      the others, rotated by their positions: alike in all heads
  // The past, then those of this pass; null without a past
  TensorPtr present_compressed_kv;  // (N,S′,C)
  TensorPtr present_k_rot;          // (N,1,S′,R)
  TensorPtr kv_b;  // (N,S′,H·(Dn+Dv))   of each head its keys without R, then its values; expanded only
  // After the split
  TensorPtr q_heads;  // (N,H,L,D)
  TensorPtr k_heads;  // (N,G,S′,D)
  TensorPtr v_heads;  // (N,G,S′,Dv)
  // Normalised, if options.qk_norm is set; else null
  TensorPtr q_normed;  // (N,H,L,D), or (N,L,H·D) before the split
  TensorPtr k_normed;  // (N,G,S,D), or (N,S,G·D)
  // Rotated by their positions, if options.rotary_base or its frequencies are set; else null, and scores are
  // computed from the heads directly
  TensorPtr q_rotary;  // (N,H,L,D)
  TensorPtr k_rotary;  // (N,G,S,D)
  // The past, then the keys of this pass as above and v_heads; null without a past
  TensorPtr present_key;    // (N,G,S′,D)
  TensorPtr present_value;  // (N,G,S′,Dv)
  // If options.indexer is set, else null; the first three are inputs of scaled_dot_product_attention
  // (core/attention/indexer.h)
  TensorPtr indexer_q;        // (N,Hi,L,W)
  TensorPtr indexer_k;        // (N,1,S,W)
  TensorPtr indexer_weights;  // (N,L,Hi)
  TensorPtr indexer_scores;   // (N,L,S)        of the keys that the masks leave, the k largest take part
  // The absorbed layout of multi_head_latent_attention: one key for all heads; else null
  TensorPtr q_absorbed;  // (N,H,L,C+R)
  TensorPtr k_absorbed;  // (N,1,S′,C+R)   [compressed_kv ; k_rot]
  // Scaled dot-product attention
  TensorPtr scores;         // (N,H,L,S′)     q·kᵀ, not yet scaled
  TensorPtr scaled_scores;  // (N,H,L,S′)     core/attention/score_scale.h
  TensorPtr position_bias;  // (1,H,L,S′)     if options.relative_bias is set, else null; mask_bias includes it
  TensorPtr mask_bias;  // (N,H,L,S′)     all masks merged: 0, -inf or a float; null without any mask. With a finite
                        //                mask.value the -inf stays: it marks the cells that are filled
  TensorPtr masked_scores;  // (N,H,L,S′)
  TensorPtr lse;            // (N,H,L)        ln Σ exp of each row of masked_scores, without the sink
  TensorPtr sink_weights;   // (N,H,L)        what the sink takes of each row; null without sinks
  TensorPtr full_weights;  // (N,H,L,S′)     attn_weights as they would be without the indexer; null without one
  TensorPtr attn_weights;  // (N,H,L,S′)     after softmax; for a frozen head the frozen weights
  // (N,H,L,S′)     after dropout; equals attn_weights at p = 0 and in frozen heads
  TensorPtr dropped_weights;
  TensorPtr latent_output;  // (N,H,L,C)      dropped_weights · compressed_kv; absorbed layout only
  TensorPtr head_output;    // (N,H,L,Dv)     dropped_weights · v
  // Merge and output projection
  TensorPtr concat;  // (N,L,H·Dv)     heads side by side, times the head gains
  // If options.output_gate is set, else null: before σ, and concat times σ of it
  TensorPtr output_gate;        // (N,L,H·Dv), or (N,L,H): one number for each head
  TensorPtr gated_concat;       // (N,L,H·Dv)
  TensorPtr output;             // (N,L,E)        for SDPA (N,H,L,Dv)
  TensorPtr residual_output;    // (N,L,E)
  TensorPtr layer_norm_output;  // (N,L,E)
  // (N,L,S′) or (N,H,L,S′): PyTorch's second result; null without need_weights
  TensorPtr attn_output_weights;

  // Defined in tensor_names.cpp, so that not every file compiles them.
  TraceTensors();
  TraceTensors(const TraceTensors&);
  TraceTensors(TraceTensors&&) noexcept;
  TraceTensors& operator=(const TraceTensors&);
  TraceTensors& operator=(TraceTensors&&) noexcept;
  ~TraceTensors();
};

// clang-format off
enum class TensorId : std::uint8_t {
  query, key, value, past_key, past_value, past_compressed_kv, past_k_rot,
  in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias,
  q_a_weight, q_a_bias, q_a_norm_weight, q_b_weight, kv_a_weight, kv_a_bias, kv_a_norm_weight, kv_b_weight,
  q_norm_weight, k_norm_weight, sinks, relative_bias_weight,
  indexer_wq_b, indexer_wk, indexer_k_norm_weight, indexer_k_norm_bias, indexer_weights_proj,
  bias_k, bias_v, static_k, static_v,
  output_gate_weight, output_gate_bias, out_proj_weight, out_proj_bias,
  attn_mask, key_padding_mask, valid_lens, nonpad_kv_seqlen, head_gain, frozen_weights,
  q_a, compressed_q, q, k, v, kv_a, compressed_kv, k_rot, present_compressed_kv, present_k_rot, kv_b,
  q_heads, k_heads, v_heads, q_normed, k_normed,
  q_rotary, k_rotary, present_key, present_value,
  indexer_q, indexer_k, indexer_weights, indexer_scores, q_absorbed, k_absorbed,
  scores, scaled_scores, position_bias, mask_bias, masked_scores, lse, sink_weights, full_weights,
  attn_weights, dropped_weights,
  latent_output, head_output, concat, output_gate, gated_concat, output, residual_output, layer_norm_output, attn_output_weights,
};
// clang-format on

enum class TensorRole : std::uint8_t { input, parameter, mask, intermediate };

struct TensorEntry {
  TensorId id;
  std::string_view name;  // "out_proj.weight"
  TensorPtr TraceTensors::*member;
  TensorRole role;
  bool probabilities;      // values in [0,1]: drawn with a sequential colour map, others are signed
  std::string_view shape;  // axis letters: "(N,H,L,S′)"
  std::string_view what;   // a few words for lists and tooltips
};

// Whether the tensor only describes others: neither the loss nor any tensor but grad.sinks depends on it.
inline bool is_row_statistic(TensorId id) {
  return id == TensorId::lse || id == TensorId::sink_weights;
}

// Whether the tensor belongs to the indexer: no gradient goes through the choice of keys.
inline bool is_of_indexer(TensorId id) {
  return (id >= TensorId::indexer_wq_b && id <= TensorId::indexer_weights_proj) ||
         (id >= TensorId::indexer_q && id <= TensorId::indexer_scores) || id == TensorId::full_weights;
}

// Tensors that multi_head_attention computes and scaled_dot_product_attention is given under their own names.
inline bool is_given_to_sdpa(TensorId id) {
  return id >= TensorId::indexer_q && id <= TensorId::indexer_weights;
}

// Parameters that scaled_dot_product_attention has too.
inline bool is_of_both_operators(TensorId id) {
  return id == TensorId::sinks || id == TensorId::relative_bias_weight;
}

// All tensors, in the order of computation; tensor_entries()[int(id)].id == id.
std::span<const TensorEntry> tensor_entries();
const TensorEntry& tensor_entry(TensorId id);

// A tensor of a trace: a value or its gradient.
struct TensorName {
  TensorId id{};
  bool gradient = false;
  friend bool operator==(const TensorName&, const TensorName&) = default;
};

std::string to_string(TensorName name);                             // "scores", "grad.scores"
std::optional<TensorName> find_tensor_name(std::string_view text);  // nullopt if there is no such name
// The nearest name by edit distance, for "did you mean".
std::string nearest_tensor_name(std::string_view text);

}  // namespace headwise
