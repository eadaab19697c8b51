// Tensors as the bytes of a file, for a file, a pipe or standard output. core/files/array_files.h writes files that contain only tensors.
#pragma once

#include <vector>

#include "core/files/array_files.h"
#include "core/files/atomic_file.h"
#include "core/files/file_metadata.h"

namespace headwise {

void write_npy(const ByteSink& sink, const Tensor& tensor);
// Only metadata under reserved names is written; npz has no place for the rest.
void write_npz(const ByteSink& sink, const std::vector<NamedTensor>& tensors, const FileMetadata& metadata);
void write_safetensors(const ByteSink& sink, const std::vector<NamedTensor>& tensors,
                       const FileMetadata& metadata);

}  // namespace headwise
