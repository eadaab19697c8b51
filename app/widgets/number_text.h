// Numbers as the window writes them: a real minus sign, and as many decimals as the values around them ask
// for.
#pragma once

#include <string>

#include "core/picture/color_map.h"

namespace headwise {

// "−14.113", "NaN", "∞", "−∞". Magnitudes that `decimals` would hide or that have more than 7 digits before
// the point are written with an exponent, "1.2e−09".
std::string decimal_text(double value, int decimals = 3);

// As many decimals as make numbers of this range tell themselves apart in a cell: 0 from 100, 1 from 3, 2 from 0.05, 3 from
// 0.005; below that, exponents.
inline constexpr int exponents = -1;
int cell_decimals(ValueRange range);
// Short, for a cell: "14.1", "−0.3", ".25" (no zero before the point where `probability`), "9e−4" with exponents.
std::string cell_number(double value, int decimals, bool probability);

}  // namespace headwise
