// Places the thumbnails of the heads. All lengths are pixels; `scale` is pixels per unit.
#pragma once

#include "core/picture/picture.h"

namespace headwise {

// Square thumbnails in rows from the top left, a caption above them, and a line with number and dot under each.
struct HeadGrid {
  RectF area;
  Index columns = 0;
  double side = 0, pitch_x = 0, pitch_y = 0;
  RectF caption;

  RectF thumbnail(Index head) const;
  RectF number_line(Index head) const;  // under the thumbnail, as wide as it
};

// The largest thumbnails that fit, at most `largest` pixels a side.
HeadGrid head_grid(Index heads, RectF area, double scale, double largest);

}  // namespace headwise
