// Numbers of the 16-bit types, stored in wider ones: which numbers those types have, and rounding to them.
#pragma once

#include "core/tensor/tensor.h"

namespace headwise {

struct NarrowType {
  const char* name;          // "bf16"
  int digits;                // of the significand, with the leading one
  int least_exponent;        // of the smallest normal number
  double largest;            // beyond it: infinity
  double tolerance() const;  // stored_tolerance of the type
};

inline constexpr NarrowType bf16{"bf16", 8, -126, 3.3895313892515355e38};
inline constexpr NarrowType f16{"f16", 11, -14, 65504.0};

// The nearest number of the type, ties to even; beyond the largest: infinite.
double rounded_to(const NarrowType& type, double value);

// Whether every number of the tensor is one of the type, and there are enough different ones to rule out
// chance: of f32 numbers one in 65,536 is a bf16 number.
bool holds_only(const NarrowType& type, const Tensor& tensor);

}  // namespace headwise
