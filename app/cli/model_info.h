// What headwise info prints about a model: its family, its attention layers, and what is missing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/files/array_files.h"
#include "core/model/transformer/text_model.h"

namespace headwise {

// Several lines: the layers, or that there are none; what is missing; whether text can go in.
std::string model_info_text(const TextModel& model);

// One line: how many heads are assumed for each layer if no config.json says it, and how to specify it;
// empty if it does.
std::string assumed_heads_text(const TextModel& model);

// {"config": bool, "missing_files": […], "layers": [{"layer", "name", "family", "layout", "embed_dim",
// "num_heads", "num_kv_heads", "assumed_num_heads", "possible_num_heads": […], "head_dim", "v_head_dim",
// "bias", "is_causal", "positions", "problem"}], "layer_count_problem": if config.json gives another number,
// "encoder": {"blocks", "vocabulary", "max_positions", "no_words"}, "tokenizer": "WordPiece", "no_text": why
// text cannot go in, "no_picture": why a picture cannot}; what is not known or not there is null.
nlohmann::ordered_json model_info_json(const TextModel& model);

// The arrays of a file as human-readable lines: of a model's hundreds,
// those that are alike in every layer share one.

// Arrays whose names differ only in numbers, "layers.0.norm" and "layers.1.norm",
// and whose sizes and types are the same.
struct TensorGroup {
  std::string name;  // "layers.{0…4,6…11}.norm"; for a single array its own name
  std::string dtype;
  std::vector<Index> sizes;    // of each
  Index count = 1, bytes = 0;  // of all
};

// Ordered by the first array of each. No group names an array that does not exist.
std::vector<TensorGroup> gathered_tensors(const std::vector<ArrayInfo>& arrays);

// One line per array or group: name, type, count, shape, bytes.
std::string tensor_list_text(const std::vector<ArrayInfo>& arrays, bool gather);

}  // namespace headwise
