#include "core/compare/narrow_types.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/compare/array_compare.h"

namespace headwise {
namespace {

constexpr std::size_t enough_numbers = 8;  // different ones, besides those with few digits

// Whether a number has so few binary digits that it says nothing about its type: 0, 1, 0.5, 3.
bool is_plain(double value) {
  constexpr NarrowType few{"", 4, -14, 65504.0};
  return rounded_to(few, value) == value;
}

}  // namespace

double NarrowType::tolerance() const {
  return stored_tolerance(DType::f32, name);
}

double rounded_to(const NarrowType& type, double value) {
  if (!std::isfinite(value) || value == 0.0) return value;
  const int exponent = std::max(std::ilogb(value), type.least_exponent);
  const double unit = std::ldexp(1.0, exponent - (type.digits - 1));
  const double rounded = std::nearbyint(value / unit) * unit;
  return std::abs(rounded) > type.largest ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                          : rounded;
}

bool holds_only(const NarrowType& type, const Tensor& tensor) {
  std::set<double> numbers;
  for (Index i = 0; i < tensor.size(); ++i) {
    const double value = tensor.flat(i);
    if (!std::isfinite(value)) continue;
    if (rounded_to(type, value) != value) return false;
    if (numbers.size() < enough_numbers && !is_plain(value)) numbers.insert(value);
  }
  return numbers.size() >= enough_numbers;
}

}  // namespace headwise
