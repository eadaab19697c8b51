// stdout is for the requested output, stderr for one line about what is wrong.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/cli/command_options.h"
#include "core/files/atomic_file.h"
#include "core/tensor/progress.h"

namespace headwise {

// Opens each of the descriptors 0, 1 and 2 that is closed on something harmless, so that no file opened later
// becomes stdout; writing to it still fails.
void keep_standard_descriptors();

// Writes to stdout at once, completely. A reader that has closed its end of the pipe has got what it wanted:
// that is not an error. Throws Error(output).
void print(std::string_view text);

// "-" on the command line: standard input when reading, standard output when writing.
inline constexpr const char* standard_stream = "-";

// Throws Error(usage) if a folder is named by it.
void refuse_standard_stream(const std::string& option, const std::string& folder);

// Whether stdout is a pipe that nobody reads any more: work that only goes on to print need not.
bool reader_is_gone();

// All of stdin, at most 64 MiB; `what` is what is expected there. Throws Error(usage).
std::string read_standard_input(const std::string& what);

// Writes bytes to stdout, as print does. Throws Error(usage)
// if that is a terminal and the bytes are not text.
ByteSink standard_output_sink(bool is_text);

// How much a command says on stderr besides errors. Quiet: nothing. Verbose: also what is read, computed and
// written, as it happens.
enum class Talk { quiet, usual, verbose };
void set_talk(Talk talk);

// One line on stderr, "headwise: …": an error, or a warning about something that did not stop the command. Never throws.
void print_error(const std::string& text) noexcept;
void print_warning(const std::string& text) noexcept;
// The same for harmless information: "headwise: note: …".
void print_notice(const std::string& text) noexcept;
// The same for what happens, if that is wanted: "headwise: 0.012 s: computed by reference in f32".
void print_detail(const std::string& text) noexcept;

// The warnings of one command: what did not stop it but the user should know.

// Prints each warning on stderr as it arises, once, and keeps it for the files and reports that include it.
class Warnings {
 public:
  // Where the next warnings arise: "page 3". Prefixed to them; a warning that arises in several places is
  // reported for the first.
  void set_place(const std::string& place) { place_ = place; }
  void add(const std::string& warning);
  const std::vector<std::string>& all() const { return all_; }

  // Throws Error(input) if `strict` and there is a warning. Call before anything is written.
  void refuse_where(bool strict) const;

 private:
  std::string place_;
  std::set<std::string> reported_;
  std::vector<std::string> all_;
};

// Adds --strict with its help. `strict` must outlive parsing.
void add_strict_flag(CommandOptions& options, bool& strict);

// Progress of a long command: one line on a terminal, redrawn in place.

// While it lives, reports the progress of this thread's work on the terminal `descriptor`, after `delay`.
// Draws nothing if that is not a terminal. One at a time.
class ProgressLine {
 public:
  ProgressLine(int descriptor, std::string name, std::chrono::milliseconds delay = std::chrono::seconds(1));
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void draw(std::chrono::milliseconds delay, const std::stop_token& stop);

  int descriptor_;
  std::string name_;
  Progress progress_;
  ProgressScope scope_;
  std::jthread thread_;
};

// Erases the line from the terminal, so that another can be printed there; it reappears at the next redraw.
// Async-signal-safe.
void hide_progress_line() noexcept;

}  // namespace headwise
