// The attention sizes of well-known models, from their papers and configurations.
#pragma once

#include <span>
#include <string_view>

#include "core/scenario/scenario.h"

namespace headwise {

struct ModelSizes {
  std::string_view name;
  Index embed_dim, num_heads, num_kv_heads, head_dim;
  bool is_causal;
  Index length;  // tokens that the model was designed for
  std::string_view source;
};

std::span<const ModelSizes> model_sizes();

// One layer's attention of these sizes over `length` random tokens, with random parameters.
Scenario model_scenario(const ModelSizes& model, Index length, bool is_causal);

}  // namespace headwise
