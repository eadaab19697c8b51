// Where the columns of the inspector's list of terms lie: name, factors with signs between them, value, bar. A function of
// the text widths, so that nothing touches and it is tested without a window.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headwise {

// Text widths over all terms, in pixels; `factors`: one per column of factors, from the left.
struct TermWidths {
  int decimals = 3;
  float name = 0.0f, value = 0.0f;
  std::vector<float> factors;
};

struct TermColumns {
  int decimals = 3;                // decimals that numbers are written with
  float name = 0.0f;               // room for the names; longer ones are cut
  std::vector<float> factor_ends;  // right edges of the factors that fit: the last ones, all if possible
  float value_end = 0.0f;
  float bar_begin = 0.0f, bar = 0.0f;  // width 0 where there is no room for bars
  // For the factor in this column of `count`; null if it does not fit.
  const float* end_of(std::size_t factor, std::size_t count) const;
};

// The first of `choices` (most exact first) that fits into `width`; shortening names or dropping the bar is tried before
// fewer decimals. `sign`: room that "×" and "=" take between two numbers, including padding.
TermColumns term_columns(std::span<const TermWidths> choices, float width, float sign, float scale);

}  // namespace headwise
