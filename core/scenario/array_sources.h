// The arrays that a scenario is given: by --input, and by the files that it names.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/files/file_paths.h"
#include "core/model/layers/attention_layers.h"
#include "core/scenario/scenario.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Arrays given from outside (--input), under PyTorch's names and in PyTorch's layouts; f32, f64, bool or i64
// (f16 and bf16 widened by the reader). They override what the scenario would make.
using GivenArrays = std::map<std::string, TensorPtr>;

// A file that was read, and what tells whether it has changed since.
struct ArrayFile {
  FileState state;
  GivenArrays arrays;
  std::shared_ptr<const AttentionLayer> layer;  // of a model: as its files have it; else null
};
using ArrayFiles = std::map<std::string, ArrayFile>;  // by path

// `given` and, below it, the arrays of inputs.file (where inputs.source is "file"), parameters.file
// (likewise; where parameters.source is "model", of the layer parameters.layer of that model), mask.file and heads.frozen, relative to the scenario's folder; weights that heads.frozen has itself come
// as frozen_weights. Files in `earlier` that have not changed are not read again; `files` receives those in use. Throws
// Error(input) for a file that is wrong or lacks the arrays it is there for.
GivenArrays gather_arrays(const Scenario& scenario, const GivenArrays& given, const ArrayFiles* earlier,
                          ArrayFiles& files);

}  // namespace headwise
