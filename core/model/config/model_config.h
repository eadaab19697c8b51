// What config.json beside a model says of its sizes, under the keys of many families.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/model/config/model_rotary.h"
#include "core/tensor/shape.h"

namespace headwise {

// Empty where the file does not say it.
struct ModelConfig {
  std::string where;  // "…/config.json", or a part of it: "…/config.json: text_config"
  std::shared_ptr<const nlohmann::json> settings;     // the object itself; never null
  std::string whole_type;                             // of a part: the model_type of the whole
  std::string model_type;                             // "bert", "gpt2", "llama" …
  std::optional<Index> embed_dim;                     // hidden_size, n_embd, d_model, dim
  std::optional<Index> num_layers;                    // num_hidden_layers, n_layer, n_layers, num_layers
  std::optional<Index> num_heads;                     // num_attention_heads, n_head, n_heads, num_heads
  std::optional<Index> num_kv_heads;                  // num_key_value_heads
  std::optional<Index> head_dim;                      // head_dim, d_kv
  std::optional<Index> encoder_heads, decoder_heads;  // encoder_attention_heads …, where they may differ
  std::vector<Index> heads_by_stage;                  // heads as a list: Swin's stages
  // Sizes that are none and that nothing here depends on, a sentence each: "config.json: head_dim = 0 is no size".
  std::vector<std::string> not_sizes;
  ModelRotary rotary;  // of families with rotary positions; what the file does not say is as usual
  // What the objects text_config, vision_config, encoder … in it say of their part of the model, by these names.
  std::vector<std::pair<std::string, std::shared_ptr<const ModelConfig>>> parts;
};

// The part that a layer belongs to, by the words in the layer's name; the whole where there are no parts, or none fits.
std::shared_ptr<const ModelConfig> part_of_layer(const std::shared_ptr<const ModelConfig>& config,
                                                 const std::string& layer_name);

// Null where the folder has no config.json. Throws Error(input): no JSON object, a size that is no whole number of at least 1.
std::shared_ptr<const ModelConfig> read_model_config(const std::string& folder);

}  // namespace headwise
