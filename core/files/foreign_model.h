// Files of models in formats that are not read: GGUF, ONNX, HDF5 (Keras, TensorFlow) and Flax. They are recognised, and refused
// with what turns them into one that is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/tensor/error.h"

namespace headwise {

// What to throw, Error(input) with the lines of Python that convert the file: by its first bytes (8 are enough), else by the
// ending of its name. Nothing: it is none of these formats.
std::optional<Error> refused_foreign_model(const std::string& path, std::string_view beginning = {});

}  // namespace headwise
