#include "app/platform/desktop_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

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

}  // namespace headwise
