// What a layer's attention computes besides its parameters, as defined by its model: from config.json and the
// names of its tensors. What is not computed here is reported, one sentence each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/model/config/model_config.h"
#include "core/model/layers/attention_layers.h"

namespace headwise {

// A property that is the model's only up to this many tokens.
struct LengthLimit {
  Index tokens = 0;
  std::string beyond;  // what is not computed for more of them, one line
};

struct LayerAttention : LayerOptions, PositionOptions {
  std::optional<ModelRotary> rotary;  // nullopt: q and k are not rotated
  std::string left_out;  // a part of the model's attention that is not computed, as warnings has it; or empty
  // What the model's attention has and this does not, one line each; empty if both are the same.
  std::vector<std::string> warnings;
  std::vector<LengthLimit> limits;
};

// For a layer whose number of heads is known. Throws Error(input)
// for a setting of the wrong type or out of range.
LayerAttention layer_attention(const AttentionLayer& layer);

}  // namespace headwise
