// An attention layer's arrays as parameters of nn.MultiheadAttention.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/layers/attention_layers.h"

namespace headwise {

// Into how many heads a layer's rows can be split, if no config.json says so: the arrays alone do not tell,
// but they rule out most numbers.

struct HeadChoice {
  Index num_heads = 1, num_kv_heads = 1, head_dim = 1, v_head_dim = 1;
  friend bool operator==(const HeadChoice&, const HeadChoice&) = default;
};

// Every number of heads that the rows of q, k and v can be split into, fewest first: the width of keys
// determines the key/value heads of each, and rotary positions need an even width. At most 4096 heads; empty
// if the arrays themselves are invalid.
std::vector<HeadChoice> head_choices(const AttentionLayer& layer);

// The first choices offered to the user, at most five: heads of width 32, 64, 80, 96 and 128, as in nearly
// all published models; if the layer is too narrow for three of these, those closest to 64. Wider heads last.
std::vector<HeadChoice> usual_head_choices(const AttentionLayer& layer);

// The default choice; nullopt if there is no choice at all.
std::optional<HeadChoice> likeliest_heads(const AttentionLayer& layer);

// The choice with this many heads; nullopt if they do not fit.
std::optional<HeadChoice> choice_of_heads(const AttentionLayer& layer, Index num_heads);

// Under nn.MultiheadAttention's names: in_proj_weight (H·D+G·D+G·Dv,E), rows of q, k and v, if the file has
// them in one array; else q_proj_weight (H·D,E), k_proj_weight (G·D,kdim), v_proj_weight (G·Dv,vdim);
// out_proj.weight (E,H·Dv). If any of the projections has a bias, in_proj_bias and out_proj.bias, zeros for
// those that the family omits. A layer without W_O has the identity as out_proj.weight. In f32, or f64 if the
// file has that. bias_k and bias_v (1,1,G·D) if nn.MultiheadAttention has them. Only these arrays are read.
// Throws Error(input) with layer_problem, Error(memory).
std::map<std::string, TensorPtr> read_layer_parameters(const ModelFiles& files, const AttentionLayer& layer);
// The same without values (Tensor::outline): only the headers of the files are read.
std::map<std::string, TensorPtr> layer_parameter_outlines(const ModelFiles& files, const AttentionLayer& layer);

}  // namespace headwise
