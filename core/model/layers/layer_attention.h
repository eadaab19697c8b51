// What a layer's attention computes beside its parameters, as its model has it: from config.json and the names of its tensors. What is
// not computed here is told, a sentence each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/config/model_rotary.h"
#include "core/model/layers/attention_layers.h"

namespace headwise {

// Something that is the model's as long as there are no more than so many tokens.
struct LengthLimit {
  Index tokens = 0;
  std::string beyond;  // what is not computed for more of them, one line
};

struct LayerAttention {
  bool is_causal = false;
  std::optional<double> scale;  // none: 1/√D
  double softcap = 0.0;         // 0: none
  std::optional<double> clip_qkv;
  std::optional<Index> sliding_window;  // query i sees keys j with |i − j| below it
  bool alibi = false;
  double alibi_scale = 1.0;           // multiplies the bias of ALiBi
  std::optional<ModelRotary> rotary;  // none: q and k are not turned
  // The model's columns 2j and 2j + 1 turn together: read_layer_parameters puts rows of q and k into the order of halves.
  bool rotates_neighbours = false;
  // What the model's attention has and these do not, one line each; empty where the layer is the model's layer.
  std::vector<std::string> warnings;
  std::vector<LengthLimit> limits;
};

// Of a layer whose number of heads is known. Throws Error(input) for a setting of a wrong type or out of range.
LayerAttention layer_attention(const AttentionLayer& layer);

}  // namespace headwise
