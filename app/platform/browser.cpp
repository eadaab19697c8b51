#include "app/platform/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

extern char** environ;

namespace headwise {
namespace {

// The path of a program as a shell would find it; empty where there is none.
std::string found(const std::string& program) {
  if (program.empty()) return "";
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0 ? program : "";
  const char* path = std::getenv("PATH");
  std::string_view folders = path ? path : "";
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    if (folder.empty()) continue;
    std::string file = std::string(folder) + "/" + program;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

}  // namespace

std::string browser_program() {
  const char* chosen = std::getenv("BROWSER");
  for (const char* program : {chosen ? chosen : "", "x-www-browser", "xdg-open"})
    if (std::string path = found(program); !path.empty()) return path;
  return "";
}

bool open_in_browser(const std::string& program, const std::string& file) {
  posix_spawn_file_actions_t quietly;
  posix_spawn_file_actions_init(&quietly);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quietly, descriptor, "/dev/null", O_RDWR, 0);
  std::string name = program, argument = file;
  char* arguments[] = {name.data(), argument.data(), nullptr};
  pid_t child = 0;
  const bool started = posix_spawn(&child, program.c_str(), &quietly, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&quietly);
  // Somebody has to wait for it, however long the browser stays open.
  if (started) std::thread([child] { waitpid(child, nullptr, 0); }).detach();
  return started;
}

}  // namespace headwise
