#include "app/cli/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "app/cli/command_line.h"
#include "core/files/input_file.h"
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

constexpr std::chrono::milliseconds frame(100);
constexpr char wipe[] = "\r\x1b[K";  // to the start of the line, and clears it

std::atomic<Talk> talk_now = Talk::usual;

// Since the program began.
double seconds_since_start() {
  static const auto begin = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::atomic<int> shown_on = -1;  // descriptor of the terminal that shows the line now; −1: none

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
    refuse_option(option, "a folder cannot be written to standard output", folder, "the name of a folder");
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
    if (count < 0) refuse_option("standard input", "it could not be read", std::strerror(errno), what);
    if (count == 0) return text;
    text.append(block, 0, static_cast<std::size_t>(count));
    if (text.size() > most_bytes) refuse_option("standard input", "it is too long", "", "at most 64 MiB");
  }
}

ByteSink standard_output_sink(bool is_text) {
  if (!is_text && isatty(STDOUT_FILENO) != 0)
    refuse_option("standard output", "this format cannot be written to a terminal", "", "a pipe or a file",
                  "redirect it, or name a file with -o");
  return [](std::span<const std::byte> bytes) {
    print(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  };
}

void set_talk(Talk talk) {
  talk_now = talk;
  seconds_since_start();
}

void print_error(const std::string& text) noexcept {
  print_line("headwise: ", text);
}

void print_warning(const std::string& text) noexcept {
  if (talk_now != Talk::quiet) print_line("headwise: warning: ", text);
}

void print_notice(const std::string& text) noexcept {
  if (talk_now != Talk::quiet) print_line("headwise: note: ", text);
}

void print_detail(const std::string& text) noexcept {
  if (talk_now != Talk::verbose) return;
  try {
    print_line("headwise: ", fmt::format("{:.3f} s: {}", seconds_since_start(), text));
  } catch (...) {  // no memory for a line that nobody needs
  }
}

void Warnings::add(const std::string& warning) {
  if (!reported_.insert(warning).second) return;
  all_.push_back(place_.empty() ? warning : fmt::format("{}: {}", place_, warning));
  print_warning(all_.back());
}

void Warnings::refuse_where(bool strict) const {
  if (!strict || all_.empty()) return;
  refuse_input("--strict", "there are warnings, so nothing was written",
               fmt::format("{} of them", all_.size()), "none", "fix their causes, or leave out --strict");
}

void add_strict_flag(CommandOptions& options, bool& strict) {
  options.flag("--strict", strict, "Treat warnings as errors: exit with status 3 and write no output");
}

void hide_progress_line() noexcept {
  const int descriptor = shown_on.exchange(-1);
  if (descriptor >= 0) [[maybe_unused]]
    const ssize_t ignored = write(descriptor, wipe, sizeof wipe - 1);
}

ProgressLine::ProgressLine(int descriptor, std::string name, std::chrono::milliseconds delay)
    : descriptor_(descriptor), name_(std::move(name)), scope_(progress_) {
  if (isatty(descriptor) == 0) return;
  thread_ = std::jthread([this, delay](const std::stop_token& stop) { draw(delay, stop); });
}

ProgressLine::~ProgressLine() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  hide_progress_line();
}

void ProgressLine::draw(std::chrono::milliseconds delay, const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  std::chrono::milliseconds wait = delay;
  while (!woken.wait_for(lock, stop, wait, [&] { return stop.stop_requested(); })) {
    wait = frame;
    if (talk_now == Talk::quiet) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count();
    const double fraction = progress_.fraction();
    const std::string doing = progress_.doing();
    std::string line = fmt::format("{}headwise: {}: {} s", wipe, name_, seconds);
    if (fraction > 0.0 && fraction < 1.0) line += fmt::format(", {:.0f} %", 100.0 * fraction);
    if (!doing.empty()) line += fmt::format(", {}", doing);
    shown_on = descriptor_;
    [[maybe_unused]] const ssize_t ignored = write(descriptor_, line.data(), line.size());
    shown_on = descriptor_;  // another line may have been printed before this one
  }
}

}  // namespace headwise
