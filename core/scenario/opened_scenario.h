// What a file is opened as, by the window and on the command line.
#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace headwise {

// Whether a path is that of a file of arrays, by its name.
bool is_array_file(const std::string& path);

// The scenario of a scenario file; of a file that `headwise run` wrote the run that it came from; of a model its first
// layer; of other arrays themselves as inputs and, where they are there, as parameters and masks. Throws Error(usage) for a
// scenario that is wrong, Error(input) for arrays that cannot be opened as any of these.
Scenario scenario_of_file(const std::string& path);

}  // namespace headwise
