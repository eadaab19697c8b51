// Rotary position embedding as config.json of a Llama-like model asks for it, under the keys of Hugging Face's transformers.
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
  double linear_factor = 1.0;  // rope_scaling of type "linear": every frequency is divided by it
  std::optional<Llama3FrequencyScaling> llama3;  // of type "llama3"
  std::optional<Index> most_positions;  // of type "dynamic": up to so many tokens no frequency is scaled
  // A rope_scaling or a model whose rotation is another: a few words, "rope_scaling yarn"; empty where it is all understood.
  std::string not_understood;
};

// From rope_theta, rope_scaling and, in newer files, rope_parameters; what is not there has its default. `path` names the file
// in errors. Where rope_parameters has an object for each kind of layer, `layer_type` ("full_attention", as layer_types has it) chooses.
// Throws Error(input) for a number that cannot be.
ModelRotary read_model_rotary(const nlohmann::json& config, const std::string& path,
                              const std::string& layer_type = {});

// The width of a head that is turned: head_dim · share, whole. 0 where that is odd.
Index rotary_width(const ModelRotary& rotary, Index head_dim);

// Whether the base alone says it all: every column is turned and no frequency is scaled.
bool is_plain_rotary(const ModelRotary& rotary, Index head_dim);

// One for each pair of columns; empty where rotary_width is 0.
std::vector<double> rotary_inverse_frequencies(const ModelRotary& rotary, Index head_dim);

// "base 500000, scaled as in Llama 3.1", for lists of what is in a file.
std::string rotary_text(const ModelRotary& rotary);

}  // namespace headwise
