// Makes text from any source (tokens, file names) fit to be drawn on one line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/export/font.h"
#include "core/tensor/shape.h"

namespace headwise {

// The text with every byte that is not UTF-8, and every NUL, replaced by U+FFFD; otherwise unchanged.
std::string valid_utf8(const std::string& text);

// These code points, as UTF-8.
std::string utf8_text(std::span<const char32_t> codes);

// Valid UTF-8 (NFC) on one line: controls and line separators escaped as \n, \x1b or \u{2028}, bytes that are
// not UTF-8 and noncharacters as U+FFFD, bidirectional controls dropped (they would reorder the text around
// them). The result is also valid in XML once &, < and > are escaped. Idempotent.
std::string printable(const std::string& text);

// printable(text), cut between two grapheme clusters and ended with "…" if it is wider than max_width pixels;
// empty if not even "…" fits.
std::string shorten(const std::string& text, FontFace face, double size, double max_width);

// The code points in painting order, from left to right: runs of right-to-left letters reversed, clusters
// kept together. A subset of the Unicode bidirectional algorithm for one line that reads left to right;
// letters are not joined.
std::vector<char32_t> visual_order(const std::string& printable_text);

// The layout of the labels along an axis: slanted if they would collide, thinned if they would still not fit,
// shortened if one is very long.

// Ems from one line of labels to the next, at least.
constexpr double axis_line_height = 1.12;

struct AxisLabel {
  Index index = 0;
  std::string text;  // as shown
};

struct AxisLabels {
  std::vector<AxisLabel> labels;
  double size = 0.0;     // font size (FontFace::sans), in pixels
  double degrees = 0.0;  // 0, or clockwise
  Index step = 1;        // every step-th cell is labelled
  double widest = 0.0;   // width of the widest text shown
};

// `texts` are the labels of the cells; missing ones are labelled by their index. `pitch` is a cell's side
// along the axis in pixels (> 0), `size` the font size.
AxisLabels row_axis_labels(const std::vector<std::string>& texts, Index count, double pitch, double size);
AxisLabels column_axis_labels(const std::vector<std::string>& texts, Index count, double pitch, double size);

}  // namespace headwise
