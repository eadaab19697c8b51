// Tensors in files: npy, npz, safetensors. Format references: numpy.lib.format, the ZIP application note, the
// safetensors README. Nothing in a file is trusted: every size is checked against the file before memory is
// allocated.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/files/atomic_file.h"
#include "core/files/input_file.h"
#include "core/tensor/error.h"
#include "core/tensor/given_array.h"
#include "core/tensor/tensor.h"

namespace headwise {

struct NamedTensor {
  std::string name;
  TensorPtr tensor;
  std::string stored_dtype;  // as in the file: "f16", "bf16", "f64", "i32", "bool", "u8" …
};

// What a file holds beside arrays of numbers that can be read: in an .npz text, Python objects, dates,
// records, complex numbers, a folder, a README; in a .safetensors arrays of another type.
struct UnreadEntry {
  std::string name;  // of the array; of the entry, if it is none
  Error why;         // what refuses it where it is needed
};
// The warning about one.
inline std::string left_out(const UnreadEntry& entry) {
  return std::string("left out: ") + entry.why.what();
}

// Reads all arrays of a .npy (named after the file: query.npy is "query"), .npz or .safetensors file,
// recognised by content. f16 and bf16 become f32, integers i64. Errors are Error(input) naming the file, what
// was got and expected. Pickles (.pt, .bin, .pkl)
// are rejected with the two lines of Python that convert them.
std::vector<NamedTensor> read_array_file(const std::string& path);
// The same, but entries that cannot be read are left out and added to `unread`, unless there is nothing else.
std::vector<NamedTensor> read_array_file(const std::string& path, std::vector<UnreadEntry>& unread);

// The contents of a file, without its data: for `headwise info`.
struct ArrayInfo {
  std::string name;
  std::string stored_dtype;
  std::vector<Index> sizes;
  Index bytes = 0;
};
struct ArrayFileInfo {
  std::string format;             // "npy", "npz", "safetensors"
  std::vector<ArrayInfo> arrays;  // of a .safetensors, those of other types too
  std::vector<UnreadEntry> unread;
  std::map<std::string, std::string> metadata;
};
ArrayFileInfo read_array_file_info(const std::string& path);
// What reading the array returns, without its values (Tensor::outline). Throws Error(input) if it cannot be
// read.
Tensor outline_of(const ArrayInfo& array, const std::string& where);

// Written atomically; Error(output) on failure. npz is deflated, with every header field fixed so that equal
// tensors give equal bytes.
void write_npy(const std::string& path, const Tensor& tensor);
void write_npz(const std::string& path, const std::vector<NamedTensor>& tensors);
void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

// Texts stored with the arrays of a file, by name: metadata of safetensors; in npz arrays of bytes (1-D
// uint8, UTF-8) whose names begin and end with two underscores.
using FileMetadata = std::map<std::string, std::string>;

// Whether a name is reserved for metadata: "__scenario__". Readers leave these out of the arrays.
bool is_reserved_name(std::string_view name);

// Tensors as the bytes of a file, for a file, a pipe or standard output.
void write_npy(const ByteSink& sink, const Tensor& tensor);
// Only metadata under reserved names is written; npz has no place for the rest.
void write_npz(const ByteSink& sink, const std::vector<NamedTensor>& tensors, const FileMetadata& metadata);
void write_safetensors(const ByteSink& sink, const std::vector<NamedTensor>& tensors,
                       const FileMetadata& metadata);

// The arrays of one file, each read on demand: a file larger than memory opens at once. Bytes are read at
// their offset (pread), not through a memory map: if a file is truncated meanwhile, that is an error rather
// than a signal, and the system caches what was read just the same.

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

// Model files in unsupported formats: GGUF, ONNX, HDF5 (Keras, TensorFlow) and Flax. They are recognised, and
// rejected with instructions for converting them.

// File names for the Python lines in error messages.

// The file's name as it can be put between quotes; a placeholder if that is not safe.
std::string name_in_python(const std::string& path);

// Python pickles, which .pt, .pth, .bin, .ckpt and .pkl files are: programs that create objects when loaded.
// They are recognised and rejected, never read.

// Whether the first bytes of a file are those of a pickle (protocols 2 to 5).
bool looks_like_pickle(std::string_view beginning);

// The exception to throw: Error(input) with the two lines of Python that convert the file. `torch`: it was
// saved by PyTorch.
Error refused_pickle(const std::string& path, bool torch);
// For a folder with pytorch_model-00001-of-00002.bin and so on.
Error refused_shards(const std::string& folder);

// The exception to throw, Error(input) with the lines of Python that convert the file: by its first bytes (8
// are enough), else by its file name extension. nullopt: it is none of these formats.
std::optional<Error> refused_foreign_model(const std::string& path, std::string_view beginning = {});

}  // namespace headwise
