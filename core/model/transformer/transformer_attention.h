// The attention of one layer of a transformer, row by row: what core/attention computes in stages, without
// keeping the stages. softmax(q·kᵀ·scale + ALiBi, causal if the model is)·v per head, in f32.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/model/transformer/transformer_linear.h"

namespace headwise {

struct TransformerHeads {
  Index heads = 0, kv_heads = 0, head_dim = 0, v_head_dim = 0;  // H, G, D, Dv
  bool is_causal = false;
  std::optional<Index> sliding_window;         // query i sees keys j with |i − j| < this
  std::vector<double> alibi_slopes = {};       // per head (core/attention/alibi.h); empty: none
  std::optional<double> scale = std::nullopt;  // null: 1/√D
};

// q (L,H·D), k (L,G·D), v (L,G·Dv) → concat (L,H·Dv). Head h is multiplied by gains[h]; no gains: all 1.
// attn_weights: null, or room for H·L·L numbers. Throws Error(cancelled).
Rows attend(const TransformerHeads& layout, const Rows& q, const Rows& k, const Rows& v,
            std::span<const double> gains, float* attn_weights);

}  // namespace headwise
