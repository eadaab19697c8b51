// What headwise info says of a model: its family, its attention layers, and what is missing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/model/attention_layers.h"

namespace headwise {

// Several lines, or none where there is no attention layer and no part missing.
std::string model_info_text(const ModelFiles& files, const AttentionLayers& layers);

// {"config": bool, "missing_files": […], "layers": [{"layer", "name", "family", "layout", "embed_dim", "num_heads", "num_kv_heads",
// "head_dim", "v_head_dim", "bias", "is_causal", "positions", "problem"}]}; what is not known is null.
nlohmann::ordered_json model_info_json(const ModelFiles& files, const AttentionLayers& layers);

}  // namespace headwise
