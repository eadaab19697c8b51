// Where the pages of a playlist lie in the strip beside the stage: one below the other, each a picture with a
// line of text. A function of the strip's width alone. All lengths are pixels;
// `scale` is pixels per design unit.
#pragma once

#include <cstddef>
#include <utility>

namespace headwise {

struct FilmstripLayout {
  int picture_width = 0, picture_height = 0;  // of a thumbnail, in the proportions of a slide
  double pitch = 0.0;                         // from one page to the next
  double line = 0.0;                          // the height of the text below a picture

  // The pages that a view of this height shows at least in part, as [first, last).
  std::pair<std::size_t, std::size_t> visible(double scroll, double height, std::size_t pages) const;
  // Between which pages something dropped at `y` (from the top of the first page) lands: 0 is before the
  // first, `pages` behind the last.
  std::size_t gap_at(double y, std::size_t pages) const;
};

// `width`: of what the pages have to themselves.
FilmstripLayout filmstrip_layout(double width, double scale);

// The place of a page that is taken out and put into a gap. Into the gap before or behind itself, it stays.
std::size_t place_of_drop(std::size_t page, std::size_t gap);

}  // namespace headwise
