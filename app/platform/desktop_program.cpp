#include "app/platform/desktop_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>
#include <utility>

extern char** environ;

namespace headwise {

std::optional<std::string> find_program(const std::string& name) {
  const char* folders_of_path = std::getenv("PATH");
  std::istringstream folders(folders_of_path ? folders_of_path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.starts_with('/')) continue;
    const std::string path = folder + "/" + name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

bool start_program(std::vector<std::string> words, const std::string& input) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  if (posix_spawn_file_actions_init(&files) != 0) return false;
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, output, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const bool started =
      posix_spawn(&process, words.front().c_str(), &files, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  // Without this nothing would reap it, however long it runs.
  if (started) std::thread([process] { waitpid(process, nullptr, 0); }).detach();
  return started;
}

std::string browser_program() {
  const char* chosen = std::getenv("BROWSER");
  const std::string wanted = chosen ? chosen : "";
  if (wanted.starts_with('/') && access(wanted.c_str(), X_OK) == 0) return wanted;
  for (const std::string& name : {wanted, std::string("x-www-browser"), std::string("xdg-open")}) {
    if (name.empty()) continue;
    if (const auto path = find_program(name)) return *path;
  }
  return "";
}

bool open_in_browser(const std::string& program, const std::string& file) {
  return start_program({program, file});
}

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::optional<ClipboardProgram> find_clipboard_program() {
  if (!environment("WAYLAND_DISPLAY").empty()) {
    if (const auto path = find_program("wl-copy")) return ClipboardProgram{*path, true};
  }
  if (!environment("DISPLAY").empty()) {
    if (const auto path = find_program("xclip")) return ClipboardProgram{*path, false};
  }
  return std::nullopt;
}

bool copy_png_file(const ClipboardProgram& program, const std::string& path) {
  std::vector<std::string> words{program.path};
  if (program.wayland)
    words.insert(words.end(), {"--type", "image/png"});
  else
    words.insert(words.end(), {"-selection", "clipboard", "-t", "image/png", "-i"});
  return start_program(std::move(words), path);
}

std::string picture_cache_folder() {
  const std::string cache = environment("XDG_CACHE_HOME"), home = environment("HOME");
  if (cache.starts_with('/')) return cache + "/headwise";
  if (!home.empty()) return home + "/.cache/headwise";
  std::error_code ignored;
  return (std::filesystem::temp_directory_path(ignored) / "headwise").string();
}

namespace {

constexpr std::array stop_signals{SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> stop_wanted = false;
std::atomic<int> stop_pipe = -1;  // its end for writing; −1: nobody waits

// Only what is async-signal-safe: the window's library cannot be called from here.
void want_to_stop(int signal) {
  const int error = errno;
  stop_wanted = true;
  if (const int end = stop_pipe; end >= 0 && write(end, "", 1) < 0) errno = 0;
  std::signal(signal, SIG_DFL);
  errno = error;
}

}  // namespace

StopOnSignals::StopOnSignals(std::function<void()> wake) {
  static_assert(stop_signals.size() == signal_count);
  stop_wanted = false;
  if (wake && pipe2(pipe_, O_CLOEXEC) == 0) {
    waker_ = std::thread([end = pipe_[0], wake = std::move(wake)] {
      char byte;
      for (ssize_t count; (count = read(end, &byte, 1)) != 0;)
        if (count > 0) wake();
    });
    stop_pipe = pipe_[1];
  }
  for (std::size_t i = 0; i < stop_signals.size(); ++i) {
    before_[i] = std::signal(stop_signals[i], want_to_stop);
    if (before_[i] == SIG_IGN) std::signal(stop_signals[i], SIG_IGN);
  }
}

StopOnSignals::~StopOnSignals() {
  for (std::size_t i = 0; i < stop_signals.size(); ++i) std::signal(stop_signals[i], before_[i]);
  stop_pipe = -1;
  if (!waker_.joinable()) return;
  close(pipe_[1]);  // which ends the thread
  waker_.join();
  close(pipe_[0]);
}

bool StopOnSignals::wanted() {
  return stop_wanted;
}

}  // namespace headwise
