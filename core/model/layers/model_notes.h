// What there is to know of a model's files as a whole, beside its layers.
#pragma once

#include <string>
#include <vector>

#include "core/model/layers/attention_layers.h"

namespace headwise {

// Sentences: sizes of config.json that are none and are not read; tensors that look like attention and are no layer's here.
std::vector<std::string> model_notes(const ModelFiles& files, const AttentionLayers& layers);

}  // namespace headwise
