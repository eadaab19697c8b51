// The arrays given to a scenario: by --input, and by the files that it names.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/files/array_files.h"
#include "core/files/file_paths.h"
#include "core/model/layers/attention_layers.h"
#include "core/scenario/scenario.h"
#include "core/tensor/given_array.h"

namespace headwise {

// Arrays given from outside (--input), under PyTorch's names and in PyTorch's layouts; f32, f64, bool or i64
// (f16 and bf16 are widened by the reader). They override those that the scenario would generate.
using GivenArrays = std::map<std::string, GivenArray>;

// A file that was opened, and its state, for detecting changes.
struct ArrayFile {
  FileState state;
  GivenArrays arrays;
  std::vector<UnreadEntry> unread;              // what it holds beside them
  std::shared_ptr<const AttentionLayer> layer;  // for a model: as in its files; else null
};
using ArrayFiles = std::map<std::string, ArrayFile>;  // by path

// Opens a file of arrays; their values are read when they are needed. Throws Error(input) if it is invalid or
// nothing in it can be read.
ArrayFile open_array_file(const std::string& path);

// `given` and, with lower priority, the arrays of inputs.file (if inputs.source is "file"), parameters.file
// (likewise; if parameters.source is "model", those of the layer parameters.layer of that model), mask.file
// and heads.frozen, relative to the scenario's folder; weights stored in heads.frozen itself are returned as
// frozen_weights. Files in `earlier` that have not changed are not opened again; `files` receives those in
// use. Throws Error(input) for a file that is invalid or lacks the arrays it is used for.
GivenArrays gather_arrays(const Scenario& scenario, const GivenArrays& given, const ArrayFiles* earlier,
                          ArrayFiles& files);

// Erases key and value from the arrays that were gathered if inputs.file holds the query three times, as in a
// trace of self-attention. Compares their values, so call it once the shapes are known to be right. Returns
// whether it has erased them.
bool erase_repeated_query(const Scenario& scenario, const GivenArrays& given, GivenArrays& gathered);

}  // namespace headwise
