// The arrays of a file as lines for people: of a model's hundreds, those that are alike in every layer share one.
#pragma once

#include <string>
#include <vector>

#include "core/files/array_files.h"

namespace headwise {

// Arrays whose names differ in numbers alone, "layers.0.norm" and "layers.1.norm", and whose sizes and types are the same.
struct TensorGroup {
  std::string name;  // "layers.{0…4,6…11}.norm"; of one array its own
  std::string dtype;
  std::vector<Index> sizes;    // of each
  Index count = 1, bytes = 0;  // of all
};

// In the order of the first of each. No group names an array that is not there.
std::vector<TensorGroup> gathered_tensors(const std::vector<ArrayInfo>& arrays);

// A line an array, or a group: name, type, how many, shape, bytes.
std::string tensor_list_text(const std::vector<ArrayInfo>& arrays, bool gather);

}  // namespace headwise
