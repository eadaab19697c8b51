// The names of files in lines of Python that a message tells its reader to run.
#pragma once

#include <string>

namespace headwise {

// The file's name as it can stand between quotes; a placeholder where that is not plain.
std::string name_in_python(const std::string& path);

}  // namespace headwise
