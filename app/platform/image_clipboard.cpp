#include "app/platform/image_clipboard.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>
#include <vector>

extern char** environ;

namespace headwise {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::optional<std::string> find_program(const std::string& name) {
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.starts_with('/')) continue;  // what is in the working folder is not the desktop's
    const std::string path = folder + "/" + name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
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
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  if (posix_spawn_file_actions_init(&files) != 0) return false;
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, path.c_str(), O_RDONLY, 0);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, output, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const bool started =
      posix_spawn(&process, program.path.c_str(), &files, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  // It ends as soon as its own background process holds the picture; without this nothing would reap it.
  if (started) std::thread([process] { waitpid(process, nullptr, 0); }).detach();
  return started;
}

std::string picture_cache_folder() {
  const std::string cache = environment("XDG_CACHE_HOME"), home = environment("HOME");
  if (cache.starts_with('/')) return cache + "/headwise";
  if (!home.empty()) return home + "/.cache/headwise";
  std::error_code ignored;
  return (std::filesystem::temp_directory_path(ignored) / "headwise").string();
}

}  // namespace headwise
