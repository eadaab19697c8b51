// An untrusted input file: opened without blocking, only if it is a regular file, and read only within its
// size. Or a built-in file (core/files/file_paths.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/tensor/error.h"

namespace headwise {

// Refuses what an input contains: throws Error(input) of these parts.
[[noreturn]] inline void refuse_input(const std::string& where, const std::string& what,
                                      const std::string& got = "", const std::string& expected = "",
                                      const std::string& remedy = "") {
  throw Error(ExitStatus::input, {where, what, got, expected, remedy});
}

// Throws an Error if the file is only Git LFS's pointer to one that has not been fetched. No error if
// there is none.
void require_fetched(const std::string& path, ExitStatus status = ExitStatus::input);

// Fills the whole span with the next bytes of a source; throws Error(input) if there are too few.
using ByteSource = std::function<void(std::span<std::byte>)>;

class InputFile {
 public:
  // Throws Error(input): no such file, no built-in file of that name, no permission, a folder, a pipe, a
  // device, an empty file, a Git LFS pointer.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // when it was opened; > 0

  // Fills `into` from `offset`. Throws Error(input) if that is not inside the file,
  // or the file has shrunk since.
  void read(std::uint64_t offset, std::span<std::byte> into) const;
  // The bytes [offset, offset + count), checked before memory is allocated for them.
  std::string read_text(std::uint64_t offset, std::uint64_t count) const;
  // Reads sequentially from `offset`. The file must outlive the source.
  ByteSource source(std::uint64_t offset) const;

 private:
  void require_inside(std::uint64_t offset, std::uint64_t count) const;

  std::string path_;
  std::optional<std::span<const std::byte>> builtin_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace headwise
