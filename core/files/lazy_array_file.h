// The arrays of one file, each read on demand: a file larger than memory opens at once. Bytes are read at
// their offset (pread), not through a memory map: if a file is truncated meanwhile, that is an error rather
// than a signal, and the system caches what was read just the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/files/array_files.h"
#include "core/files/input_file.h"
#include "core/tensor/given_array.h"

namespace headwise {

class LazyArrayFile {
 public:
  // A .safetensors, .npz or .npy file, by content. Throws Error(input) like read_array_file.
  explicit LazyArrayFile(const std::string& path);
  ~LazyArrayFile();
  LazyArrayFile(LazyArrayFile&&) noexcept;

  const std::string& path() const;
  const ArrayFileInfo& info() const { return info_; }
  const ArrayInfo* find(const std::string& name) const;  // null: there is none

  // As returned by read_array_file. Throws Error(input) if there is none of that name, Error(memory).
  TensorPtr read(const std::string& name) const;
  // Rows [first, first + count) of its first axis. In a safetensors file only these are read.
  TensorPtr read_rows(const std::string& name, Index first, Index count) const;

 private:
  struct Places;

  ArrayFileInfo info_;
  std::unique_ptr<InputFile> file_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unique_ptr<Places> places_;
};

// An array of a file, whose values are read when they are needed.
struct LazyArray {
  std::string name;
  GivenArray array;
  std::string stored_dtype;
};
// As read_array_file, in the order of the file.
std::vector<LazyArray> open_arrays(const std::string& path, std::vector<UnreadEntry>& unread);

}  // namespace headwise
