// Model files in unsupported formats: GGUF, ONNX, HDF5 (Keras, TensorFlow) and Flax. They are recognised, and
// rejected with instructions for converting them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/tensor/error.h"

namespace headwise {

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
