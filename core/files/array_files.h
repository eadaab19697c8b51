// Tensors in files: npy, npz, safetensors. Format references: numpy.lib.format, the ZIP application note, the
// safetensors README. Nothing in a file is trusted: every size is checked against the file before memory is
// allocated.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace headwise {

struct NamedTensor {
  std::string name;
  TensorPtr tensor;
  std::string stored_dtype;  // as in the file: "f16", "bf16", "f64", "i32", "bool", "u8" …
};

// Reads all arrays of a .npy (named after the file: query.npy is "query"), .npz or .safetensors file, recognised by content. f16 and bf16
// become f32, integers i64. Errors are Error(input) naming the file, what was got and expected. Pickles (.pt, .bin, .pkl) are rejected
// with the two lines of Python that convert them.
std::vector<NamedTensor> read_array_file(const std::string& path);

// The contents of a file, without its data: for `headwise info`.
struct ArrayInfo {
  std::string name;
  std::string stored_dtype;
  std::vector<Index> sizes;
  Index bytes = 0;
};
struct ArrayFileInfo {
  std::string format;  // "npy", "npz", "safetensors"
  std::vector<ArrayInfo> arrays;
  std::map<std::string, std::string> metadata;
};
ArrayFileInfo read_array_file_info(const std::string& path);

// Written atomically; Error(output) on failure. npz is deflated, with every header field fixed so that equal
// tensors give equal bytes.
void write_npy(const std::string& path, const Tensor& tensor);
void write_npz(const std::string& path, const std::vector<NamedTensor>& tensors);
void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace headwise
