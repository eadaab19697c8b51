// Comparing a tensor with what it should be: the first cell that differs, with both values.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/tensor/tensor.h"

namespace headwise::test {

// None where the sizes agree and every cell does: NaN and infinities exactly, finite cells within `tolerance`
// times the largest finite magnitude of `expected`, or of `least_scale` where that is larger: a sum that
// cancels to zero leaves rounding noise of the size of its terms.
inline std::optional<std::string> first_difference(const std::string& name, const Tensor& got,
                                                   const Tensor& expected, double tolerance,
                                                   double least_scale = 0.0) {
  if (!got.shape().same_sizes(expected.shape())) {
    return fmt::format("{}: sizes {}, expected {}", name, got.shape().to_string(),
                       expected.shape().sizes_text());
  }
  double largest = least_scale;
  for (Index i = 0; i < expected.size(); ++i)
    if (std::isfinite(expected.flat(i))) largest = std::max(largest, std::abs(expected.flat(i)));
  for (Index i = 0; i < got.size(); ++i) {
    const double a = got.flat(i);
    const double b = expected.flat(i);
    const bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * largest;
    if (!same) {
      return fmt::format("{}[{}] is {:.17g}, expected {:.17g}", name, fmt::join(got.shape().index_of(i), ","),
                         a, b);
    }
  }
  return std::nullopt;
}

}  // namespace headwise::test
