// stdout is for what was asked for, stderr for one line about what is wrong.
#pragma once

#include <string>
#include <string_view>

#include "core/files/atomic_file.h"

namespace headwise {

// Gives each of the descriptors 0, 1 and 2 that is closed something harmless, so that no file that is opened
// later becomes stdout; writing to it still fails.
void keep_standard_descriptors();

// Writes to stdout at once, whole. A reader that has closed its end of the pipe has what it wanted: that is
// no error. Throws Error(output).
void print(std::string_view text);

// "-" on the command line: standard input where something is read, standard output where something is written.
inline constexpr const char* standard_stream = "-";

// All of stdin, at most 64 MiB; `what` is what is expected there. Throws Error(usage).
std::string read_standard_input(const std::string& what);

// Hands bytes to stdout, as print does. Throws Error(usage) where that is a terminal and the bytes are no text.
ByteSink standard_output_sink(bool is_text);

// One line on stderr, "headwise: …": an error, or a warning about something that went on all the same. Never
// throws.
void print_error(const std::string& text) noexcept;
void print_warning(const std::string& text) noexcept;
// The same for what is right and good to know: "headwise: note: …".
void print_notice(const std::string& text) noexcept;

}  // namespace headwise
