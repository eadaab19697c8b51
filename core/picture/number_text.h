// Numbers as written in the window: a real minus sign,
// and as many decimals as the surrounding values require.
#pragma once

#include <string>

#include "core/picture/color_map.h"

namespace headwise {

// "−14.113", "NaN", "∞", "−∞". Magnitudes that `decimals` would hide or that have more than 7 digits before
// the point are written with an exponent, "1.2e−09".
std::string decimal_text(double value, int decimals = 3);

// Two formats of a cell's number that a number of decimals cannot express: with an exponent, "9e−4"; and with
// two digits, "14" but "1.8", so that 7 × 0.25 never reads 2.
inline constexpr int exponents = -1, two_digits = -2;

// As many decimals as needed to distinguish numbers of this range in a cell: two digits from 100, 1 decimal
// from 3, 2 from 0.05, 3 from 0.005; below that, exponents.
int cell_decimals(ValueRange range);
// The same with fewer characters, for narrow cells; the same number if nothing is shorter.
int fewer_cell_decimals(ValueRange range);
// Short, for a cell: "14.1", "−0.3", ".25" (no zero before the point if `probability`).
std::string cell_number(double value, int decimals, bool probability);

}  // namespace headwise
