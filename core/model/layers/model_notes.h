// Notes on a model's files as a whole, apart from its layers.
#pragma once

#include <string>
#include <vector>

#include "core/model/layers/attention_layers.h"

namespace headwise {

// Sentences: an index that does not fit its files; invalid sizes in config.json that are not read; tensors
// that look like attention and belong to no layer here.
std::vector<std::string> model_notes(const ModelFiles& files, const AttentionLayers& layers);

}  // namespace headwise
