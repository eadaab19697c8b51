#include "core/files/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/files/file_paths.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "not a regular file";
}

// Hints at what was wanted with a file of this name:
// models have their settings and vocabulary next to their arrays.
[[noreturn]] void refuse_kind(const std::string& path, const char* got) {
  const bool json = path.ends_with(".json"), text = path.ends_with(".txt");
  refuse_input(path, json || text ? "there is nothing to read" : "there are no arrays to read", got,
               json   ? "a JSON file"
               : text ? "a text file"
                      : "a .npy, .npz or .safetensors file");
}

}  // namespace

void require_fetched(const std::string& path, ExitStatus status) {
  constexpr std::size_t most_bytes = 1024;  // of a pointer, by its specification
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;  // a pipe would wait for a writer
  if (const auto size = std::filesystem::file_size(path, error); error || size >= most_bytes) return;
  std::string first;
  std::ifstream file(path, std::ios::binary);
  std::getline(file, first);
  const bool is_pointer =
      first.starts_with("version https://git-lfs.") || first.starts_with("version https://hawser.");
  if (!is_pointer) return;
  throw Error(status, {.where = path,
                       .what = "this is a Git LFS pointer, not the file itself",
                       .expected = "the file that it points to",
                       .remedy = "fetch it with git lfs pull in its folder, or download it"});
}

InputFile::InputFile(const std::string& path) : path_(path) {
  if (!is_builtin(path)) require_fetched(path);
  if (is_builtin(path)) {
    builtin_ = builtin_file(path);
    if (!builtin_)
      refuse_input(path, "there is no such built-in model", "", join(builtin_folders(), " or "),
                   "write ./ before the name of a folder");
    size_ = builtin_->size();
    return;
  }
  // Non-blocking: opening a pipe without a writer would wait forever.
  descriptor_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) close(descriptor_);
    if (error == ENOENT) refuse_input(path, "file not found");
    refuse_input(path, "the file cannot be opened", std::strerror(error), "a file that can be read");
  }
  const char* problem = !S_ISREG(status.st_mode) ? kind_of(status.st_mode)
                        : status.st_size <= 0    ? "an empty file"
                                                 : nullptr;
  if (problem != nullptr) {
    close(descriptor_);
    refuse_kind(path, problem);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void InputFile::require_inside(std::uint64_t offset, std::uint64_t count) const {
  if (offset <= size_ && count <= size_ - offset) return;
  refuse_input(path_, "the file ends too early", fmt::format("{} bytes", size_),
               fmt::format("{} bytes from byte {}", count, offset),
               "the file may be incomplete: download or save it again");
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  require_inside(offset, into.size());
  if (builtin_) {
    std::ranges::copy(builtin_->subspan(offset, into.size()), into.begin());
    return;
  }
  while (!into.empty()) {
    const ssize_t count = pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      refuse_input(path_, "the file cannot be read",
                   count < 0 ? std::strerror(errno) : "it became shorter while it was read");
    into = into.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

std::string InputFile::read_text(std::uint64_t offset, std::uint64_t count) const {
  require_inside(offset, count);
  require_memory(static_cast<Index>(count), path_);
  std::string text(count, '\0');
  read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

ByteSource InputFile::source(std::uint64_t offset) const {
  return [this, offset](std::span<std::byte> into) mutable {
    read(offset, into);
    offset += into.size();
  };
}

}  // namespace headwise
