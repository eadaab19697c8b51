// Distinguishes what is inaccessible from what does not exist.
#pragma once

#include <string>

#include "core/tensor/error.h"

namespace headwise {

// Throws an Error if something blocks the path to a file or a folder: no permission to enter, circular links
// … It is no error if nothing is there, or if a file may not be read: opening it reports that.
void require_reachable(const std::string& path, ExitStatus status = ExitStatus::input);

// Throws Error(input) if a folder may not be listed. Files whose names are known may be opened all the same.
void require_listed(const std::string& folder);

}  // namespace headwise
