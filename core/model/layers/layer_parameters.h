// An attention layer's arrays as parameters of nn.MultiheadAttention.
#pragma once

#include <map>
#include <string>

#include "core/model/layers/attention_layers.h"

namespace headwise {

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
