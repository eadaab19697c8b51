// Integers that stand where floating-point numbers are expected: perhaps the bits of such numbers, saved as
// integers.
#pragma once

#include <string>

#include "core/tensor/tensor.h"

namespace headwise {

struct IntegerLook {
  std::string got;     // "integers from 15360 to 49152, which look like bf16 saved as uint16"
  std::string remedy;  // how NumPy or PyTorch makes numbers of them
};

// `integers`: i64; of an outline nothing is known but that.
IntegerLook look_of_integers(const Tensor& integers);

}  // namespace headwise
