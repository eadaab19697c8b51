// The sizes given in a model's config.json, under the keys of many families.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/rotary_scaling.h"
#include "core/tensor/shape.h"

namespace headwise {

// Rotary position embedding as specified by the config.json of a Llama-like model,
// under the keys of Hugging Face's transformers.

struct ModelRotary {
  double base = 10000.0;  // rope_theta, rotary_emb_base
  double share = 1.0;     // of a head's columns, (0,1]: partial_rotary_factor, rotary_pct
  RotaryPairs pairs = RotaryPairs::halves;
  bool backwards = false;                // by the angles times −1
  std::optional<RotaryScaling> scaling;  // rope_scaling
  // A rope_scaling or a model with a different rotation, in a few words: "rope_scaling xpos"; empty if
  // everything is understood.
  std::string unsupported;
};

// From rope_theta, rope_scaling and, in newer files, rope_parameters; absent keys have their defaults. `path`
// names the file in errors. If rope_parameters has an object per kind of layer, `layer_type`
// ("full_attention", as in layer_types) selects one; older files have a base per kind. Throws Error(input)
// for an impossible number.
ModelRotary read_model_rotary(const nlohmann::json& config, const std::string& path,
                              const std::string& layer_type = {});

// The width of a head that is rotated: head_dim · share, an integer. 0 if that is odd.
Index rotary_width(const ModelRotary& rotary, Index head_dim);

// Of texts of up to `tokens` tokens; none if rotary_width is 0, or the scaling has a problem.
Rotation model_rotation(const ModelRotary& rotary, Index head_dim, Index tokens = 1);

// "base 500000, scaled as in Llama 3.1", for listing the contents of a file.
std::string rotary_text(const ModelRotary& rotary);

// Members are empty if the file does not give them.
struct ModelConfig {
  std::string where;  // "…/config.json", or a part of it: "…/config.json: text_config"
  std::shared_ptr<const nlohmann::json> settings;     // the object itself; never null
  std::string whole_type;                             // of a part: the model_type of the whole model
  std::string model_type;                             // "bert", "gpt2", "llama" …
  std::optional<Index> embed_dim;                     // n_embed, hidden_size, n_embd, d_model, dim
  std::optional<Index> num_layers;                    // num_hidden_layers, n_layer, n_layers, num_layers
  std::optional<Index> num_heads;                     // num_attention_heads, n_head, n_heads, num_heads
  std::optional<Index> num_kv_heads;                  // num_key_value_heads
  std::optional<Index> head_dim;                      // head_dim, d_kv
  std::optional<Index> encoder_heads, decoder_heads;  // encoder_attention_heads …, where they may differ
  std::optional<Index> decoder_dim;                   // decoder_hidden_size
  std::vector<Index> heads_by_stage;                  // heads as a list: Swin's stages
  // Sizes that are invalid but that nothing here depends on, one sentence each: "config.json:
  // head_dim = 0 is no size".
  std::vector<std::string> invalid_sizes;
  ModelRotary rotary;  // of families with rotary positions; defaults for what the file does not give
  // What its objects text_config, vision_config, encoder … say about their part of the model, by these names.
  std::vector<std::pair<std::string, std::shared_ptr<const ModelConfig>>> parts;
};

// The part that a layer belongs to, by the components of the layer's name;
// the whole if there are no parts, or none fits.
std::shared_ptr<const ModelConfig> part_of_layer(const std::shared_ptr<const ModelConfig>& config,
                                                 const std::string& layer_name);

// Null if the folder has no config.json. Throws Error(input) if it is not a JSON object,
// or a size is not an integer of at least 1.
std::shared_ptr<const ModelConfig> read_model_config(const std::string& folder);

}  // namespace headwise
