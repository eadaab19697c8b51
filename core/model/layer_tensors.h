// Every tensor of an attention layer is accounted for: the numbers here are made of it, it is known to change none, or it is named.
#pragma once

#include "core/model/attention_layers.h"

namespace headwise {

// Fills has_bias_kv and unused_tensors of a layer whose family and name are known, from the names in its files.
void account_for_tensors(AttentionLayer& layer, const ModelFiles& files);

}  // namespace headwise
