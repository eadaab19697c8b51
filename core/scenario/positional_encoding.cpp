#include "core/scenario/positional_encoding.h"

#include <cmath>

namespace headwise {

double sinusoid_frequency(Index pair, Index pairs) {
  constexpr double base = 10000.0;
  return std::pow(base, -static_cast<double>(pair) / static_cast<double>(pairs));
}

}  // namespace headwise
