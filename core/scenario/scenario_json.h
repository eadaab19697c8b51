// A Scenario as JSON, as in files, --set and the clipboard.
#pragma once

#include <string>
#include <string_view>

#include "core/scenario/scenario.h"

namespace headwise {

// Throws Error(usage): malformed JSON (line and column), an unknown key (with the nearest one), a duplicate
// key, a wrong type, a value out of range. `where` begins the error message: the file's name.
Scenario scenario_from_json(std::string_view json, const std::string& where);

// Keys in the order of the format; only those that differ from their default, unless `complete`.
std::string scenario_to_json(const Scenario& scenario, bool complete = false);

// Reads a scenario file of at most 64 MiB; missing or damaged: Error(usage). If frozen heads have many
// weights, writing first puts them into an .npz next to it.
Scenario read_scenario_file(const std::string& path);
void write_scenario_file(const Scenario& scenario, const std::string& path);

// The same with the files that it names relative to `folder` (empty: to the working directory).
Scenario with_files_relative_to(const Scenario& scenario, const std::string& folder);

// One --set PATH=VALUE ("attention.num_heads=4", or a part of an object, "mask.indexer.k=4"); VALUE is JSON,
// else a string.
Scenario with_setting(const Scenario& scenario, std::string_view path_equals_value);

}  // namespace headwise
