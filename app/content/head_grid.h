// Places the thumbnails of the heads. All lengths are pixels; `scale` is pixels per unit.
#pragma once

#include <optional>
#include <vector>

#include "core/picture/picture.h"

namespace headwise {

inline constexpr double head_name_units = 13.0;  // height of the line with a head's name

// Square thumbnails in rows from the top left, a caption above them, and a line with number and dot under each; a line with
// the head's name under that, where the names fit.
struct HeadGrid {
  RectF area;
  Index columns = 0;
  double side = 0, pitch_x = 0, pitch_y = 0;
  RectF caption;
  std::optional<std::size_t> name_form;       // which of the wordings of the names fits; none: no names
  double number_height = 0, name_height = 0;  // of the two lines; the second is 0 without names

  RectF thumbnail(Index head) const;
  RectF number_line(Index head) const;  // under the thumbnail, as wide as it
  RectF name_line(Index head) const;    // under that, as wide as the pitch allows; only with a name_form
};

// The largest thumbnails that fit, at most `largest` pixels a side. `names`: the width of the widest name in each wording, the
// longest wording first. Thumbnails move apart for the names and give up a fifth of their side at most.
HeadGrid head_grid(Index heads, RectF area, double scale, double largest,
                   const std::vector<double>& names = {});

}  // namespace headwise
