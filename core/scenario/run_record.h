// What a file of a run says of the run that it came from, so that it can be opened again. It is metadata of the file
// (core/files/array_files.h), each a JSON text:
//   __scenario__  the scenario with all its keys and the sizes that it ran with; files are relative to this file's folder
//   __tokens__    {"query": […], "key": […]}: what rows and columns of the maps are called
//   __warnings__  [sentences]
//   __origin__    {"written": [keys that somebody wrote], "given": [arrays that came from outside], "layers": [numbers]}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/files/array_files.h"
#include "core/files/file_metadata.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

struct RunRecord {
  Scenario scenario;
  std::vector<std::string> given;  // names of the arrays that came from outside (--input) and that the run has used
  std::vector<Index> layers;  // of a file of several layers; else empty
  TokenLabels tokens;
  std::vector<std::string> warnings;
};

// The scenario with the sizes of these inputs, where arrays or texts decided otherwise than it says.
Scenario with_sizes_of(const Scenario& scenario, const AttentionInputs& inputs);

// The metadata of a file in `folder` (empty: the working folder).
FileMetadata run_metadata(const RunRecord& run, const std::string& folder);

// What the metadata of the file at `path` tell; none where the file is not one of a run. Throws Error(input) where they are
// damaged.
std::optional<RunRecord> run_record(const std::string& path, const FileMetadata& metadata);

// Whether the file of arrays at `path` is one of a run. Throws Error(input) where it cannot be read.
bool is_run_file(const std::string& path);

// The scenario that is the run again: arrays that it was given are read from the file itself. Throws Error(input) where
// the file does not hold them.
Scenario scenario_of_run(const std::string& path, const RunRecord& run, const std::vector<ArrayInfo>& arrays);

}  // namespace headwise
