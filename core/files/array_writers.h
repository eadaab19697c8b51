// Tensors as the bytes of a file, for a file, a pipe or standard output. core/files/array_files.h writes
// files that contain only tensors.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/array_files.h"
#include "core/files/atomic_file.h"

namespace headwise {

// Texts stored with the arrays of a file, by name: metadata of safetensors; in npz arrays of bytes (1-D
// uint8, UTF-8) whose names begin and end with two underscores.

using FileMetadata = std::map<std::string, std::string>;

// Whether a name is reserved for metadata: "__scenario__". Readers leave these out of the arrays.
bool is_reserved_name(std::string_view name);

void write_npy(const ByteSink& sink, const Tensor& tensor);
// Only metadata under reserved names is written; npz has no place for the rest.
void write_npz(const ByteSink& sink, const std::vector<NamedTensor>& tensors, const FileMetadata& metadata);
void write_safetensors(const ByteSink& sink, const std::vector<NamedTensor>& tensors,
                       const FileMetadata& metadata);

}  // namespace headwise
