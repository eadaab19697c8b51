// Places one query's row of every head, one below the other, and beside them the words that the model predicts. A function of sizes alone.
// All lengths are pixels; `scale` is pixels per unit.
#pragma once

#include "core/picture/cell_geometry.h"

namespace headwise {

struct HeadRowsShape {
  Index heads = 0, keys = 0;
  double name_width = 0;       // of the widest name of a head, with its dot
  double key_label_width = 0;  // of the widest token; 0: none
  bool words = false;          // whether the model predicts words
};

struct HeadRowsLayout {
  Index row_count = 0;  // heads that have a row at once, at most H; 0: too little room
  double names_x = 0, name_width = 0;
  RectF cells;           // row_count × S
  bool slanted = false;  // key labels below the cells
  bool key_labels = false;
  RectF words;  // width 0: none

  PlaneGeometry plane(Index keys) const { return plane_geometry(cells, row_count, keys); }
  RectF name(Index row) const;  // left of a row
};

HeadRowsLayout head_rows_layout(const HeadRowsShape& shape, const RectF& area, double scale);

}  // namespace headwise
