// The record of a run in its output file, which allows reopening it. It is metadata of the file
// (core/files/array_files.h), each a JSON text:
//   __scenario__  the scenario with all its keys and the sizes of the run;
//                 files are relative to this file's folder
//   __tokens__    {"query": […], "key": […]}: labels of the rows and columns of the maps
//   __warnings__  [sentences]
//   __origin__    {"written": [keys set by the user], "given": [arrays given from outside], "layers": [numbers]}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/files/array_files.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

struct RunRecord {
  Scenario scenario;
  std::vector<std::string> given;  // names of the arrays given from outside (--input) that the run used
  std::vector<Index> layers;       // for a file of several layers; else empty
  TokenLabels tokens;
  std::vector<std::string> warnings;
};

// The scenario with the sizes of these inputs, if arrays or texts overrode what it says.
Scenario with_sizes_of(const Scenario& scenario, const AttentionInputs& inputs);

// The metadata of a file in `folder` (empty: the working directory).
FileMetadata run_metadata(const RunRecord& run, const std::string& folder);

// The record in the metadata of the file at `path`; nullopt if the file is not from a run. Throws
// Error(input) if it is damaged.
std::optional<RunRecord> run_record(const std::string& path, const FileMetadata& metadata);

// Whether the array file at `path` is from a run. Throws Error(input) if it cannot be read.
bool is_run_file(const std::string& path);

// The scenario that repeats the run: arrays given to it are read from the file itself. Throws Error(input) if
// the file does not contain them.
Scenario scenario_of_run(const std::string& path, const RunRecord& run, const std::vector<ArrayInfo>& arrays);

// Opens a file as a scenario, for the window and the command line.

// Whether a path is that of an array file, by its name.
bool is_array_file(const std::string& path);

// For a scenario file its scenario; for a file written by `headwise run` the run that it came from; for a
// model its first layer, of a folder of checkpoints the newest; for other arrays the arrays themselves as
// inputs and, if present, as parameters and masks. Throws Error(usage) for an invalid scenario, Error(input)
// for arrays that cannot be opened as any of these; where no layer of a model can be computed, it says why
// `layer` cannot.
Scenario scenario_of_file(const std::string& given, std::optional<Index> layer = {});

}  // namespace headwise
