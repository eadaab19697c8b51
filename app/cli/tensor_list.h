// The arrays of a file as human-readable lines: of a model's hundreds,
// those that are alike in every layer share one.
#pragma once

#include <string>
#include <vector>

#include "core/files/array_files.h"

namespace headwise {

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
