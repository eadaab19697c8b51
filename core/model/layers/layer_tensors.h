// Every tensor of an attention layer is accounted for: the numbers here are made of it, it is known to change none, or it is named.
#pragma once

#include "core/model/layers/attention_layers.h"

namespace headwise {

// "encoder.layer.0.attention." of BERT's layer: what stands before the names of all tensors of its attention. The module that
// nn.MultiheadAttention is has its tensors under its own name.
std::string module_of(const AttentionLayer& layer);

// Fills has_bias_kv and unused_tensors of a layer whose family and name are known, from the names in its files.
void account_for_tensors(AttentionLayer& layer, const ModelFiles& files);

}  // namespace headwise
