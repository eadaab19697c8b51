// Arrays as Python source.
#pragma once

#include <string>

#include "core/tensor/tensor.h"

namespace headwise {

// An expression for a NumPy array of the tensor's shape and type: a list of numbers if there are few, else
// its bytes, deflated, in base64, which the program's `unpack(dtype, sizes, text)` reads.
std::string python_array(const Tensor& tensor);

// The definition of that `unpack`.
std::string python_unpack_definition();

}  // namespace headwise
