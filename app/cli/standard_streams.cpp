#include "app/cli/standard_streams.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "app/cli/progress_line.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::size_t longest_line = 4000;  // an Error's five parts, each cut at 300 bytes, fit several times

// Returns an errno, or 0.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

void print_line(const char* beginning, const std::string& text) noexcept {
  hide_progress_line();
  try {
    write_all(STDERR_FILENO, beginning + one_line(text, longest_line) + "\n");
  } catch (...) {  // not even enough memory for the line
    write_all(STDERR_FILENO, "headwise: out of memory\n");
  }
}

}  // namespace

void keep_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free descriptor is this one. Opened in the wrong direction: reading stdin,
    // writing stdout must fail.
    if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

void print(std::string_view text) {
  hide_progress_line();
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return;
  throw Error(ExitStatus::output,
              {"standard output", "it could not be written", std::strerror(error), "", ""});
}

void refuse_standard_stream(const std::string& option, const std::string& folder) {
  if (folder == standard_stream)
    throw Error(ExitStatus::usage,
                {option, "a folder cannot be written to standard output", folder, "the name of a folder", ""});
}

bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

std::string read_standard_input(const std::string& what) {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  std::string text, block(std::size_t{1} << 16, '\0');
  while (true) {
    const ssize_t count = read(STDIN_FILENO, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw Error(ExitStatus::usage,
                  {"standard input", "it could not be read", std::strerror(errno), what, ""});
    if (count == 0) return text;
    text.append(block, 0, static_cast<std::size_t>(count));
    if (text.size() > most_bytes)
      throw Error(ExitStatus::usage, {"standard input", "it is too long", "", "at most 64 MiB", ""});
  }
}

ByteSink standard_output_sink(bool is_text) {
  if (!is_text && isatty(STDOUT_FILENO) != 0) {
    throw Error(ExitStatus::usage, {"standard output", "this format cannot be written to a terminal", "",
                                    "a pipe or a file", "redirect it, or name a file with -o"});
  }
  return [](std::span<const std::byte> bytes) {
    print(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  };
}

void print_error(const std::string& text) noexcept {
  print_line("headwise: ", text);
}

void print_warning(const std::string& text) noexcept {
  print_line("headwise: warning: ", text);
}

void print_notice(const std::string& text) noexcept {
  print_line("headwise: note: ", text);
}

void Warnings::add(const std::string& warning) {
  if (!said_.insert(warning).second) return;
  all_.push_back(place_.empty() ? warning : fmt::format("{}: {}", place_, warning));
  print_warning(all_.back());
}

void Warnings::refuse_where(bool strict) const {
  if (!strict || all_.empty()) return;
  throw Error(ExitStatus::input,
              {"--strict", "there are warnings, so nothing was written",
               fmt::format("{} of them", all_.size()), "none", "fix their causes, or leave out --strict"});
}

void add_strict_flag(CommandOptions& options, bool& strict) {
  options.flag("--strict", strict, "Treat warnings as errors: exit with status 3 and write no output");
}

}  // namespace headwise
