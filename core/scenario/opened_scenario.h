// Opens a file as a scenario, for the window and the command line.
#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace headwise {

// Whether a path is that of an array file, by its name.
bool is_array_file(const std::string& path);

// For a scenario file its scenario; for a file written by `headwise run` the run that it came from; for a
// model its first layer, of a folder of checkpoints the newest; for other arrays the arrays themselves as
// inputs and, if present, as parameters and masks. Throws Error(usage) for an invalid scenario, Error(input)
// for arrays that cannot be opened as any of these.
Scenario scenario_of_file(const std::string& given);

}  // namespace headwise
