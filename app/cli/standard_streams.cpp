#include "app/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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
  try {
    write_all(STDERR_FILENO, beginning + one_line(text, longest_line) + "\n");
  } catch (...) {  // no memory left even for the line
    write_all(STDERR_FILENO, "headwise: out of memory\n");
  }
}

}  // namespace

void keep_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one. Opened the wrong way round: reading stdin, writing stdout must
    // fail.
    if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

void print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return;
  throw Error(ExitStatus::output,
              {"standard output", "it could not be written", std::strerror(error), "", ""});
}

void print_error(const std::string& text) noexcept {
  print_line("headwise: ", text);
}
void print_warning(const std::string& text) noexcept {
  print_line("headwise: warning: ", text);
}

}  // namespace headwise
