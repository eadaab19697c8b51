// Where the columns of the inspector's list of terms stand: name, factors with signs between them, value, bar. A function
// of how wide their texts are, so that nothing touches and it is tested without a window.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headwise {

// How wide the texts of all terms are, in pixels; `factors` one for each column of factors, from the left.
struct TermWidths {
  int decimals = 3;
  float name = 0.0f, value = 0.0f;
  std::vector<float> factors;
};

struct TermColumns {
  int decimals = 3;                // how exactly numbers are written
  float name = 0.0f;               // room of the names; longer ones are cut
  std::vector<float> factor_ends;  // right edges of the factors that have room: the last ones, all where there is any
  float value_end = 0.0f;
  float bar_begin = 0.0f, bar = 0.0f;  // 0 wide where there is no room for bars
  // Of the factor in this column of `count`; none where it has no room.
  const float* end_of(std::size_t factor, std::size_t count) const;
};

// The first of `choices` (from the most exact to the least) that fits into `width`; where a shorter name or no bar helps,
// that comes before fewer decimals. `sign`: room that "×" and "=" take between two numbers, with their air.
TermColumns term_columns(std::span<const TermWidths> choices, float width, float sign, float scale);

}  // namespace headwise
