// The command line: `headwise [FILE]` opens the window, everything else is a subcommand with a file of its
// own.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/cli/command_options.h"
#include "core/export/color_map.h"

namespace headwise {

// What every subcommand consists of. Its function adds its options, parses the arguments after its name, does
// the work and throws Error if something is wrong;
// run_command_line turns that into one line and an exit status.

struct Subcommand {
  std::string_view name;      // "run"
  std::string_view what;      // one line
  std::string_view examples;  // indented lines
  void (*run)(CommandOptions& options, const Words& words);
};

std::span<const Subcommand> subcommands();

void run_render(CommandOptions& options, const Words& words);   // render_command.cpp
void run_run(CommandOptions& options, const Words& words);      // run_command.cpp
void run_export(CommandOptions& options, const Words& words);   // export_command.cpp
void run_compare(CommandOptions& options, const Words& words);  // compare_command.cpp
void run_info(CommandOptions& options, const Words& words);     // info_command.cpp
void run_bench(CommandOptions& options, const Words& words);    // bench_command.cpp
void run_train(CommandOptions& options, const Words& words);    // train_command.cpp
void run_grade(CommandOptions& options, const Words& words);    // grade_command.cpp
void run_list(CommandOptions& options, const Words& words);     // list_command.cpp

// Refuses what an option or an argument says: throws Error(usage) of these parts.
[[noreturn]] void refuse_option(const std::string& option, const std::string& what,
                                const std::string& got = "", const std::string& expected = "",
                                const std::string& remedy = "");
// A complete argument as an integer, or as a finite number; throws Error(usage) naming the option.
long long integer_of(const std::string& option, const std::string& word);
double number_of(const std::string& option, const std::string& word);
// The argument of --theme; throws Error(usage).
Theme theme_of(const std::string& word);

// Returns the exit status (core/tensor/error.h); prints one line to stderr on error, and never throws.
int run_command_line(int argc, char** argv);

}  // namespace headwise
