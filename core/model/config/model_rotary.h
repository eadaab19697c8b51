// Rotary position embedding as specified by the config.json of a Llama-like model,
// under the keys of Hugging Face's transformers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/rotary_embedding.h"

namespace headwise {

struct ModelRotary {
  double base = 10000.0;       // rope_theta, rotary_emb_base
  double share = 1.0;          // of a head's columns, (0,1]: partial_rotary_factor, rotary_pct
  double linear_factor = 1.0;  // rope_scaling of type "linear": every frequency is divided by this
  std::optional<Llama3FrequencyScaling> llama3;  // of type "llama3"
  std::optional<Index> most_positions;  // of type "dynamic": up to this many tokens no frequency is scaled
  // A rope_scaling or a model with a different rotation, in a few words: "rope_scaling yarn"; empty if
  // everything is understood.
  std::string not_understood;
};

// From rope_theta, rope_scaling and, in newer files, rope_parameters; absent keys have their defaults. `path`
// names the file in errors. If rope_parameters has an object per kind of layer, `layer_type`
// ("full_attention", as in layer_types) selects one. Throws Error(input) for an impossible number.
ModelRotary read_model_rotary(const nlohmann::json& config, const std::string& path,
                              const std::string& layer_type = {});

// The width of a head that is rotated: head_dim · share, an integer. 0 if that is odd.
Index rotary_width(const ModelRotary& rotary, Index head_dim);

// Whether the base alone is enough: every column is rotated and no frequency is scaled.
bool is_plain_rotary(const ModelRotary& rotary, Index head_dim);

// One per pair of columns; empty if rotary_width is 0.
std::vector<double> rotary_inverse_frequencies(const ModelRotary& rotary, Index head_dim);

// "base 500000, scaled as in Llama 3.1", for listing the contents of a file.
std::string rotary_text(const ModelRotary& rotary);

}  // namespace headwise
