// Numbers in cells: one format for all the cells of a heatmap, so that they can be compared.
#pragma once

#include <optional>
#include <string>

#include "core/picture/heatmap.h"

namespace headwise {

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
// the 0 that a softmax makes of it: there the cross of the plane (core/picture/plane_rule.h)
// says that it is blocked.
std::string blocked_text(const HeatmapSpec& spec, double value);

}  // namespace headwise
