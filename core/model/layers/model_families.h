// How families of models name and lay out the arrays of an attention layer: assets/models/families.txt.
#pragma once

#include <span>
#include <string_view>

namespace headwise {

enum class AttentionLayout {
  separate,     // q, k and v each [out,in]
  packed,       // rows of q, then k, then v: [out,in]
  packed_in,    // columns of q, then k, then v: [in,out] (GPT-2's Conv1D), the output projection [in,out] too
  interleaved,  // per head its rows of q, k and v: [H·3·D,in]
  queries_in,   // columns of q [in,out], of k and v in one array [in,2·out]: GPT-2's cross-attention
  grouped,      // per key/value head the rows of its query heads, then of k and v: [G·(H/G+2)·D,in]
};

// Names are what follows a layer's prefix, up to "weight" or "bias": "attention.self.query." is part of
// "encoder.layer.0.attention.self.query.weight" in the layer "encoder.layer.0.".
struct ModelFamily {
  std::string_view name = {};  // "BERT"
  AttentionLayout layout = AttentionLayout::separate;
  std::string_view q = {}, k = {}, v = {};  // of separate arrays
  std::string_view kv = {};                 // of one array with k and v, next to that of q
  std::string_view qkv = {};                // of one array
  std::string_view output = {};
  std::string_view joint_bias = {};  // of separate arrays with one bias for q, k and v; else empty
  bool is_causal = false;            // outside of an encoder
  bool is_cross = false;             // keys and values come from another stack
  bool scales = true;                // by 1/√D
  // Many programs use these names for queries, but with other output names:
  // without this output the layer is not of this family.
  bool needs_output = false;
  // Only for models of this model_type in config.json; empty: for all.
  std::string_view model_type = {};
  // How attention itself sees positions: "rotary", "ALiBi", "relative"; else empty.
  std::string_view positions = {};
};

// In the order in which they are tried: the first with all its arrays present wins.
std::span<const ModelFamily> model_families();

std::string_view layout_name(AttentionLayout layout);  // as `headwise info` prints it

}  // namespace headwise
