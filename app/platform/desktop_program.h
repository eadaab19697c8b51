// Other programs of the desktop: found on PATH, and started beside this one.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace headwise {

// The path of an executable file on PATH; nullopt if there is none. Relative folders of PATH are skipped: what is in the working
// directory is not the desktop's.
std::optional<std::string> find_program(const std::string& name);

// Starts `words[0]`, a path, with the other words as its arguments, reading `input`, its output discarded. Returns at once; false
// if it could not be started.
bool start_program(std::vector<std::string> words, const std::string& input = "/dev/null");

}  // namespace headwise
