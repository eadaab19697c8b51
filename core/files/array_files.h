// Tensors in files: npy, npz, safetensors. Format references: numpy.lib.format, the ZIP application note, the
// safetensors README. Nothing in a file is trusted: every size is checked against the file before memory is
// allocated.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/tensor/error.h"
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

}  // namespace headwise
