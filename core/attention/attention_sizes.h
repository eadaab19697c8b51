// The axis sizes of one attention (N, L, S …), derived from its options and arrays.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "core/attention/trace.h"

namespace headwise {

constexpr const char* key_axis_name(bool past, bool appended) {
  return past ? (appended ? "P+S′" : "P+S") : appended ? "S′" : "S";
}

struct AttentionSizes {
  Index batch = 0;       // N
  Index queries = 0;     // L
  Index past = 0;        // P: keys of the past
  Index keys = 0;        // P + S, without appended columns: the keys that masks speak of
  Index all_keys = 0;    // S′: including the columns of bias_k and of the zero row
  Index embed_dim = 0;   // E; H·Dv for scaled_dot_product_attention
  Index heads = 0;       // H
  Index kv_heads = 0;    // G
  Index head_dim = 0;    // D
  Index v_head_dim = 0;  // Dv
  Index gates = 0;       // rows of output_gate.weight: H·Dv, H, or 0 without a gate
  // Of multi_head_latent_attention, else 0
  Index latent = 0;        // C
  Index query_latent = 0;  // Cq; 0 without q_lora_rank
  Index nope = 0;          // Dn
  Index rope = 0;          // R
  bool absorbed = false;

  // The columns that a score sums over: D, or C + R in the absorbed layout.
  Index score_width() const { return absorbed ? latent + rope : head_dim; }
  // Those of a weighted sum: Dv, or C in the absorbed layout.
  Index value_width() const { return absorbed ? latent : v_head_dim; }

  Index new_keys() const { return keys - past; }      // S: the rows of key
  Index key_rows() const { return all_keys - past; }  // of k: those of key, and appended ones
  // "S", or "S′" if rows are appended; "P+S" and "P+S′" with a past.
  const char* key_rows_axis() const { return key_axis_name(false, all_keys != keys); }
  const char* masked_axis() const { return key_axis_name(past > 0, false); }
  const char* key_axis() const { return key_axis_name(past > 0, all_keys != keys); }
  Shape scores_shape() const;  // (N,H,L,S′)
  // Of everything that is there with and without a gate.
  friend bool operator==(const AttentionSizes& a, const AttentionSizes& b) {
    const auto all = [](const AttentionSizes& s) {
      return std::tie(s.batch, s.queries, s.past, s.keys, s.all_keys, s.embed_dim, s.heads, s.kv_heads,
                      s.head_dim, s.v_head_dim, s.latent, s.query_latent, s.nope, s.rope, s.absorbed);
    };
    return all(a) == all(b);
  }
};

// Whether an axis of this name counts keys, and whether those of the past are among them.
inline bool is_key_axis(std::string_view name) {
  return name == "S" || name == "S′" || name.starts_with("P+S");
}
inline bool has_past_keys(std::string_view axis) {
  return axis.starts_with("P+S");
}

// P; nullopt: no past is given. Its tensors must have their axes.
std::optional<Index> given_past_length(const TraceTensors& tensors);

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
