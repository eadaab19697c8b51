// Model files in unsupported formats: GGUF, ONNX, HDF5 (Keras, TensorFlow) and Flax. They are recognised, and rejected with
// instructions for converting them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/tensor/error.h"

namespace headwise {

// The exception to throw, Error(input) with the lines of Python that convert the file: by its first bytes (8 are enough), else
// by its file name extension. nullopt: it is none of these formats.
std::optional<Error> refused_foreign_model(const std::string& path, std::string_view beginning = {});

}  // namespace headwise
