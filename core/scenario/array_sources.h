// The arrays given to a scenario: by --input, and by the files that it names.
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

// Arrays given from outside (--input), under PyTorch's names and in PyTorch's layouts; f32, f64, bool or i64 (f16 and bf16 are widened by
// the reader). They override those that the scenario would generate.
using GivenArrays = std::map<std::string, TensorPtr>;

// A file that was read, and its state, for detecting changes.
struct ArrayFile {
  FileState state;
  GivenArrays arrays;
  std::shared_ptr<const AttentionLayer> layer;  // for a model: as in its files; else null
};
using ArrayFiles = std::map<std::string, ArrayFile>;  // by path

// `given` and, with lower priority, the arrays of inputs.file (if inputs.source is "file"), parameters.file (likewise; if
// parameters.source is "model", those of the layer parameters.layer of that model), mask.file and heads.frozen, relative to the
// scenario's folder; weights stored in heads.frozen itself are returned as frozen_weights. Files in `earlier` that have not changed are
// not read again; `files` receives those in use. Throws Error(input) for a file that is invalid or lacks the arrays it is used for.
GivenArrays gather_arrays(const Scenario& scenario, const GivenArrays& given, const ArrayFiles* earlier,
                          ArrayFiles& files);

}  // namespace headwise
