// Dispatches from a tensor's run-time type to the type of a template. Mathematics is done in f32 and f64
// only; an operation dispatches once, at its boundary.
#pragma once

#include <string>
#include <utility>

#include "core/tensor/error.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Calls f.operator()<float>() or f.operator()<double>(); bool and i64 throw Error(usage).
template <class F>
decltype(auto) dispatch_float(DType dtype, F&& f) {
  if (dtype == DType::f32) return std::forward<F>(f).template operator()<float>();
  if (dtype == DType::f64) return std::forward<F>(f).template operator()<double>();
  throw Error(ExitStatus::usage,
              {"tensor", "there is no arithmetic in this type", dtype_name(dtype), "f32 or f64", ""});
}

}  // namespace headwise
