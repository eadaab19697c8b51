// Arrays as Python source.
#pragma once

#include <string>

#include "core/tensor/tensor.h"

namespace headwise {

// An expression that makes a NumPy array of the tensor's shape and type: a list of numbers where there are
// few, else its bytes, deflated, in base64, which `unpack(dtype, sizes, text)` of the program reads.
std::string python_array(const Tensor& tensor);

// The definition of that `unpack`.
std::string python_unpack_definition();

}  // namespace headwise
