// A Scenario as JSON, as it stands in a file, on --set and in the clipboard.
#pragma once

#include <string>
#include <string_view>

#include "core/scenario/scenario.h"

namespace headwise {

// Throws Error(usage): malformed JSON (line and column), an unknown key (with the nearest one), a duplicate
// key, a wrong type, a value out of range. `where` begins the error line: the file's name.
Scenario scenario_from_json(std::string_view json, const std::string& where);

// Keys in the order of the format; only those that differ from their default, unless `complete`.
std::string scenario_to_json(const Scenario& scenario, bool complete = false);

// Reads a scenario file; missing or damaged: Error(usage). At most 64 MiB are read. Where frozen heads keep many weights
// writing puts them into an .npz beside it, first.
Scenario read_scenario_file(const std::string& path);
void write_scenario_file(const Scenario& scenario, const std::string& path);

// The same with the files that it names relative to `folder` (empty: to the working folder).
Scenario with_files_relative_to(const Scenario& scenario, const std::string& folder);

// One --set PATH=VALUE ("attention.num_heads=4"); VALUE is JSON, else a string.
Scenario with_setting(const Scenario& scenario, std::string_view path_equals_value);

}  // namespace headwise
