// What every subcommand is made of. Its function adds its options, parses the words behind its name, does the
// work and throws Error where something is wrong; run_command_line turns that into one line and an exit
// status.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace headwise {

using Words = std::vector<std::string>;

struct Subcommand {
  std::string_view name;      // "run"
  std::string_view what;      // one line
  std::string_view examples;  // indented lines
  void (*run)(CLI::App& app, const Words& words);
};

std::span<const Subcommand> subcommands();

void run_render(CLI::App& app, const Words& words);   // render_command.cpp
void run_run(CLI::App& app, const Words& words);      // run_command.cpp
void run_export(CLI::App& app, const Words& words);   // export_command.cpp
void run_compare(CLI::App& app, const Words& words);  // compare_command.cpp
void run_info(CLI::App& app, const Words& words);     // info_command.cpp
void run_bench(CLI::App& app, const Words& words);    // bench_command.cpp
void run_list(CLI::App& app, const Words& words);     // list_command.cpp

// Parses the words with the options that were added to `app`. Returns false where help was asked for, and
// printed. Throws Error(usage), one line, for everything that is wrong.
bool parse_words(CLI::App& app, const Words& words);

// The whole of a word as a whole number, or as a finite number; throws Error(usage) naming the option.
long long integer_of(const std::string& option, const std::string& word);
double number_of(const std::string& option, const std::string& word);

}  // namespace headwise
