// The axis sizes of one attention (N, L, S …), derived from its options and arrays.
#pragma once

#include <tuple>

#include "core/attention/trace.h"

namespace headwise {

struct AttentionSizes {
  Index batch = 0;       // N
  Index queries = 0;     // L
  Index keys = 0;        // S, without appended columns
  Index all_keys = 0;    // S′: including the columns of bias_k and of the zero row
  Index embed_dim = 0;   // E; H·Dv for scaled_dot_product_attention
  Index heads = 0;       // H
  Index kv_heads = 0;    // G
  Index head_dim = 0;    // D
  Index v_head_dim = 0;  // Dv
  Index gates = 0;       // rows of output_gate.weight: H·Dv, H, or 0 without a gate

  // "S", or "S′" if columns are appended.
  const char* key_axis() const { return all_keys == keys ? "S" : "S′"; }
  Shape scores_shape() const;  // (N,H,L,S′)
  // Of everything that is there with and without a gate.
  friend bool operator==(const AttentionSizes& a, const AttentionSizes& b) {
    const auto all = [](const AttentionSizes& s) {
      return std::tie(s.batch, s.queries, s.keys, s.all_keys, s.embed_dim, s.heads, s.kv_heads, s.head_dim,
                      s.v_head_dim);
    };
    return all(a) == all(b);
  }
};

// query, key and value must be present, with rank 3 (multi_head_attention) or 4
// (scaled_dot_product_attention; q_heads, k_heads and v_heads, their names in a trace, are accepted instead).
AttentionSizes attention_sizes(const AttentionInputs& inputs);
AttentionSizes attention_sizes(const AttentionOptions& options, const TraceTensors& tensors);

// The shape of a computed tensor of such a trace, by the letters of its declaration; the trace need not have
// it. Throws Error(memory) on overflow.
Shape computed_shape(TensorId id, const AttentionOptions& options, const AttentionSizes& sizes);

// The options completed with all sizes that follow from the arrays: scaled_dot_product_attention takes H, G
// and the widths from them.
AttentionOptions resolved_options(const AttentionInputs& inputs);

}  // namespace headwise
