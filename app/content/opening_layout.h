// Where the opening scene's sentence, arcs and text lie. A function of measured text and the window's
// rectangle alone, so it is tested without a window. All lengths are pixels.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/export/picture.h"

namespace headwise {

struct OpeningShape {
  std::vector<double> word_widths;
  double space = 0;          // between two words
  double word_height = 0;    // of a line of the sentence
  double weight_height = 0;  // of what stands under each line: weights, and the word to swap
  double text_height = 0;    // of everything below the sentence
};

struct OpeningLayout {
  std::vector<RectF> words;
  int lines = 0;
  double highest_arc = 0;  // above the first line
  RectF text;              // what stands below the sentence: as wide as the area
};

// The sentence is centred, in as many lines as it needs; the arcs take the height above it, at most 0.42 of
// the area; everything together is centred in the area, and starts at its top if it is higher. `area`
// excludes margins and the top line.
OpeningLayout opening_layout(const OpeningShape& shape, RectF area);

// An arc as a cubic Bézier curve from the middle of one word's top to another's, leaving both vertically.
// Arcs to distant words rise higher; the one to the most distant word of a line rises to highest_arc. `gap`
// is left between word and arc.
using Arc = std::array<PointF, 4>;
Arc opening_arc(const OpeningLayout& layout, std::size_t from, std::size_t to, double gap);
// The arc whose end is between those of two arcs from the same word: at `share` of the way, from 0 to 1.
Arc arc_between(const Arc& a, const Arc& b, double share);
// Points of its part from the start to `grown` (0 to 1), about one per 4 pixels.
std::vector<PointF> arc_points(const Arc& arc, double grown);

}  // namespace headwise
