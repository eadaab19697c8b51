// Numbers as written in the window: a real minus sign,
// and as many decimals as the surrounding values require.
#pragma once

#include <optional>
#include <string>

#include "core/export/color_map.h"
#include "core/export/heatmap.h"

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

// Numbers in cells: one format for all the cells of a heatmap, so that they can be compared.

// Pictures with more cells than this show no numbers:
// an SVG with more texts than that is of no use to anyone.
constexpr Index most_cells_with_digits = 40000;

struct CellDigits {
  int decimals = 0;          // after the point, or of the mantissa
  bool scientific = false;   // "3.1e−7"
  bool leading_zero = true;  // "0.25", else ".25"
  double size = 0.0;         // font size (FontFace::mono), in pixels
};

// The format with which every number fits into a cell of cell_width × cell_height pixels (its gap included)
// at a font size of 8 pixels or more: enough decimals to give the largest number about three digits, fewer,
// down to two digits, or no zero before the point if space is short. nullopt if even that does not fit, if
// the spec requests no digits, if there are no numbers, and above most_cells_with_digits.
std::optional<CellDigits> cell_digits(const HeatmapSpec& spec, const HeatmapContents& contents,
                                      double cell_width, double cell_height);

// With a real minus sign; never "−0.0".
std::string cell_text(double value, const CellDigits& digits);

// What stands in a cell that a mask blocks: "−∞", or the number that replaces its score, "−1e9". Empty for
// the 0 that a softmax makes of it: there the cross of the plane (core/export/plane_rule.h)
// says that it is blocked.
std::string blocked_text(const HeatmapSpec& spec, double value);

}  // namespace headwise
