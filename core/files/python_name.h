// File names for the Python lines in error messages.
#pragma once

#include <string>

namespace headwise {

// The file's name as it can be put between quotes; a placeholder if that is not safe.
std::string name_in_python(const std::string& path);

}  // namespace headwise
