#include "app/cli/array_arguments.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "app/cli/standard_streams.h"
#include "core/scenario/run_record.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::string& option, const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (is_array_file(at->path().string())) files.push_back(at->path().string());
  if (files.empty())
    throw Error(ExitStatus::input, {.where = fmt::format("{}: {}", option, folder),
                                    .what = error ? "the folder cannot be read" : "the folder has no arrays",
                                    .got = error ? error.message() : "",
                                    .expected = ".npy, .npz or .safetensors files in it"});
  std::ranges::sort(files);
  return files;
}

[[noreturn]] void refuse_pipe(const std::string& where, const std::string& what, const std::string& got,
                              const std::string& expected = "") {
  throw Error(ExitStatus::input, {.where = where, .what = what, .got = got, .expected = expected});
}

// Arrays are read where they lie in a file, in any order: a pipe is copied first. The descriptor stays open,
// so that its path under /proc names the copy.
std::string copy_of_pipe(const std::string& where, int pipe) {
  constexpr std::size_t most_bytes = std::size_t{4} << 30;
  const int copy = memfd_create("headwise", MFD_CLOEXEC);
  if (copy < 0) refuse_pipe(where, "the pipe cannot be copied", std::strerror(errno));
  std::string block(std::size_t{1} << 20, '\0'), beginning;
  std::size_t total = 0;
  while (true) {
    const ssize_t count = read(pipe, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse_pipe(where, "the pipe cannot be read", std::strerror(errno));
    if (count == 0) break;
    if (beginning.size() < 8)
      beginning += block.substr(0, std::min<std::size_t>(8, static_cast<std::size_t>(count)));
    total += static_cast<std::size_t>(count);
    if (total > most_bytes)
      refuse_pipe(where, "the pipe has too much", "", "at most 4 GiB; write a file first");
    for (std::size_t done = 0; done < static_cast<std::size_t>(count);) {
      const ssize_t wrote = write(copy, block.data() + done, static_cast<std::size_t>(count) - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0)
        throw Error(ExitStatus::memory, {.where = where, .what = "the pipe does not fit in memory"});
      done += static_cast<std::size_t>(wrote);
    }
  }
  if (total == 0) refuse_pipe(where, "the pipe is empty", "", "an .npz or a .safetensors file");
  if (beginning.starts_with("\x93NUMPY"))
    refuse_pipe(where, "an .npy from a pipe has no name for its array", "", "an .npz or a .safetensors file");
  return fmt::format("/proc/self/fd/{}", copy);
}

bool is_pipe(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
}

}  // namespace

std::vector<std::string> array_paths(const std::string& option, const std::vector<std::string>& words) {
  std::vector<std::string> paths;
  std::error_code missing;
  for (const std::string& word : words) {
    if (word == standard_stream) {
      paths.push_back(copy_of_pipe(option + ": standard input", STDIN_FILENO));
    } else if (is_pipe(word)) {
      const int pipe = open(word.c_str(), O_RDONLY | O_CLOEXEC);
      if (pipe < 0)
        refuse_pipe(fmt::format("{}: {}", option, word), "the pipe cannot be read", std::strerror(errno));
      paths.push_back(copy_of_pipe(fmt::format("{}: {}", option, word), pipe));
      close(pipe);
    } else if (fs::is_directory(word, missing)) {
      std::ranges::move(files_of(option, word), std::back_inserter(paths));
    } else {
      paths.push_back(word);
    }
  }
  return paths;
}

}  // namespace headwise
