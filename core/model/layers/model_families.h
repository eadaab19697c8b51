// How families of models name and lay out the arrays of an attention layer, after the files that they publish and their
// modules in Hugging Face's transformers, timm, nanoGPT and PyTorch.
#pragma once

#include <span>
#include <string_view>

namespace headwise {

enum class AttentionLayout {
  separate,     // q, k and v each [out,in]
  packed,       // rows of q, then k, then v: [out,in]
  packed_in,    // columns of q, then k, then v: [in,out] (GPT-2's Conv1D), the output projection [in,out] too
  interleaved,  // for each head its rows of q, k and v: [H·3·D,in]
  queries_in,   // columns of q [in,out], of k and v in one array [in,2·out]: GPT-2's cross-attention
  grouped,      // for each key/value head the rows of its query heads, then of k and v: [G·(H/G+2)·D,in]
};

// Names are what stands behind a layer's prefix, up to "weight" or "bias": "attention.self.query." names
// "encoder.layer.0.attention.self.query.weight" in the layer "encoder.layer.0.".
struct ModelFamily {
  std::string_view name = {};  // "BERT"
  AttentionLayout layout = AttentionLayout::separate;
  std::string_view q = {}, k = {}, v = {};  // of separate arrays
  std::string_view kv = {};                 // of one array with k and v, beside that of q
  std::string_view qkv = {};                // of one array
  std::string_view output = {};
  std::string_view joint_bias = {};  // of separate arrays with one bias for q, k and v; else empty
  bool is_causal = false;            // outside of an encoder
  bool is_cross = false;             // keys and values come from another stack
  bool scales = true;                // by 1/√D
  // Many programs call their queries so, each with an output of its own name: without this one's it is none of this family.
  bool needs_output = false;
  // What makes order seen inside of attention: "rotary", "ALiBi", "relative"; else empty.
  std::string_view positions = {};
};

// In the order in which they are tried: the first whose arrays are all there is it.
std::span<const ModelFamily> model_families();

std::string_view layout_name(AttentionLayout layout);  // as `headwise info` prints it

}  // namespace headwise
