// The command line: `headwise [FILE]` opens the window, everything else is a subcommand with a file of its
// own.
#pragma once

namespace headwise {

// Returns the exit status (core/tensor/error.h); prints one line to stderr on error, and never throws.
int run_command_line(int argc, char** argv);

}  // namespace headwise
