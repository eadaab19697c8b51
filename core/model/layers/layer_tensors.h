// Accounts for every tensor of an attention layer: it is used here, it is known to change nothing,
// or it is named.
#pragma once

#include <string>
#include <vector>

#include "core/model/layers/attention_layers.h"

namespace headwise {

// "encoder.layer.0.attention." for BERT's layer: the common prefix of all tensors of its attention. For
// nn.MultiheadAttention, which is itself the module, they are directly under its own name.
std::string module_of(const AttentionLayer& layer);

// Fills has_bias_kv and unused_tensors of a layer whose family and name are known,
// from the array names in its files.
void account_for_tensors(AttentionLayer& layer, const ModelFiles& files);

// Notes on a model's files as a whole, apart from its layers.

// Sentences: an index that does not fit its files; invalid sizes in config.json that are not read; tensors
// that look like attention and belong to no layer here.
std::vector<std::string> model_notes(const ModelFiles& files, const AttentionLayers& layers);

}  // namespace headwise
