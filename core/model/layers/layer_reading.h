// What the settings of one layer's attention are read with, and which keys its tokens see: windows, blocks
// and chunks of a text. The rest is in layer_attention.cpp.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/files/json_value.h"
#include "core/model/config/model_types.h"
#include "core/model/layers/layer_attention.h"

namespace headwise {

constexpr Index most_window = Index{1} << 40;  // of a number of tokens in config.json

// Everything that one layer's attention is read from.
struct LayerReading {
  const AttentionLayer& layer;
  const JsonValue& settings;
  const ModelType& type;
  LayerAttention& attention;

  bool reads(reads::Groups group) const { return (type.reads & group) != 0; }
  void warn(std::string sentence) const { attention.warnings.push_back(std::move(sentence)); }

  void leave_out(const char* what, const std::string& why) const {
    attention.left_out = fmt::format("{} are left out: {}", what, why);
    warn(attention.left_out);
  }

  // The entry of this layer in a list with one per layer; null if there is no list.
  const Json& of_layer(const char* key) const {
    const Json& list = settings.at(key);
    static const Json none;
    if (list.is_null() || (list.is_array() && list.empty())) return none;
    if (settings[key].list("a list with an entry for each layer");
        layer.number >= static_cast<Index>(list.size()))
      settings[key].refuse("an entry is missing", fmt::format("an entry for layer {}", layer.number));
    return list[static_cast<std::size_t>(layer.number)];
  }
};

// Whether its name says that it is self-attention of a decoder;
// cross-attention sees all of the encoder's tokens.
bool is_in_decoder(const std::string& layer_name);

// Whether use_bidirectional_attention makes an encoder of a decoder (EmbeddingGemma).
bool sees_both_ways(const LayerReading& read);

// Whether no_rope_layers, or their interval, leaves the layer without positions.
bool has_no_positions(const LayerReading& read);

// Whether the layer has a window, if a model has both kinds.
bool has_window(const LayerReading& read);

// sliding_window, and limits by blocks that are not computed.
void read_windows(const LayerReading& read);

// Chunks of a text, and queries multiplied further behind: limits. After RoPE, which some depend on.
void read_chunks_and_growth(const LayerReading& read);

}  // namespace headwise
