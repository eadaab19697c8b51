// stdout is for what was asked for, stderr for one line about what is wrong.
#pragma once

#include <string>
#include <string_view>

namespace headwise {

// Gives each of the descriptors 0, 1 and 2 that is closed something harmless, so that no file that is opened
// later becomes stdout; writing to it still fails.
void keep_standard_descriptors();

// Writes to stdout at once, whole. A reader that has closed its end of the pipe has what it wanted: that is
// no error. Throws Error(output).
void print(std::string_view text);

// One line on stderr, "headwise: …": an error, or a warning about something that went on all the same. Never
// throws.
void print_error(const std::string& text) noexcept;
void print_warning(const std::string& text) noexcept;

}  // namespace headwise
