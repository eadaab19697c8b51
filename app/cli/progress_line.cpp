#include "app/cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace headwise {
namespace {

constexpr std::chrono::milliseconds frame(100);
constexpr char wipe[] = "\r\x1b[K";  // to the start of the line, and clears it

std::atomic<int> shown_on = -1;  // descriptor of the terminal that shows the line now; −1: none

}  // namespace

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
