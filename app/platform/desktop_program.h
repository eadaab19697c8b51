// Other programs of the desktop: found on PATH, and started beside this one.
#pragma once

#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace headwise {

// The path of an executable file on PATH; nullopt if there is none. Relative folders of PATH are skipped:
// what is in the working directory is not the desktop's.
std::optional<std::string> find_program(const std::string& name);

// Starts `words[0]`, a path, with the other words as its arguments, reading `input`, its output discarded.
// Returns at once; false if it could not be started.
bool start_program(std::vector<std::string> words, const std::string& input = "/dev/null");

// The system's web browser.

// The program that opens a page: $BROWSER, x-www-browser or xdg-open, the first of them that PATH has;
// empty where there is none.
std::string browser_program();

// Starts it with the file, and returns at once. False where it could not be started.
bool open_in_browser(const std::string& program, const std::string& file);

// Pictures for other programs. GLFW's clipboard is text only, so a desktop program is used: wl-copy under
// Wayland, xclip under X11.
struct ClipboardProgram {
  std::string path;  // "/usr/bin/xclip"
  bool wayland = false;
};
// None if the desktop has none, or there is no desktop.
std::optional<ClipboardProgram> find_clipboard_program();

// Starts the program, without a shell, on the PNG file; returns at once, and the program outlives this call.
// False if it could not be started.
bool copy_png_file(const ClipboardProgram& program, const std::string& path);

// $XDG_CACHE_HOME/headwise, else ~/.cache/headwise, else the folder for temporary files: where the picture is
// stored meanwhile.
std::string picture_cache_folder();

// Ctrl+C, SIGTERM and SIGHUP as a request to end that work under way can answer.

// While it lives the first of these signals makes wanted() true; the second ends the process as usual. A
// signal that was ignored before (nohup) stays so. One at a time.
class StopOnSignals {
 public:
  // `wake`, where given, is called from another thread soon after the signal.
  explicit StopOnSignals(std::function<void()> wake = {});
  ~StopOnSignals();
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;

  static bool wanted();

 private:
  static constexpr int signal_count = 3;
  void (*before_[signal_count])(int) = {};
  int pipe_[2] = {-1, -1};
  std::thread waker_;
};

}  // namespace headwise
