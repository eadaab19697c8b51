// Places the plane of queries and keys, and the rows of scores and weights beside it. A function of points
// and sizes alone. All lengths are pixels except where "units" is said; `scale` is pixels per unit. On the
// screen y grows downwards, in the plane upwards.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/attention/query_key_plane.h"
#include "core/export/picture.h"
#include "core/export/plane_rule.h"

namespace headwise {

struct QueryKeyLayout {
  bool fits = false;  // false: too little room, and nothing else is set
  RectF plane;
  double pixels = 1.0;                // per unit of length in the plane, the same along both axes
  double origin_x = 0, origin_y = 0;  // where (0,0) is on the screen
  RectF rows;           // of the keys, one below the other, under a line of captions; width 0: no room
  double pitch = 0;     // of the rows
  Index row_count = 0;  // how many keys have a row, at most S′

  // Screen position of a point of the plane, and the point at a screen position.
  PlanePoint on_screen(PlanePoint point) const;
  PlanePoint in_plane(PlanePoint screen) const;
  // The nearest point whose screen position lies inside the plane's rectangle.
  PlanePoint clamped(PlanePoint point) const;
};

// The origin and all points lie inside the plane's rectangle, with room for their labels.
QueryKeyLayout query_key_layout(const QueryKeyPlane& plane, const RectF& area, double scale);

// The line from the origin through `tip`, as long as it is inside the plane's rectangle: both ends on the
// screen. None if the tip is the origin.
std::optional<std::pair<PlanePoint, PlanePoint>> line_through(const QueryKeyLayout& layout, PlanePoint tip);
// The point of that line that is closest to `key`: its distance from the origin is dot(tip, key) / |tip|.
PlanePoint foot_on_line(PlanePoint tip, PlanePoint key);

// A label beside a mark at (x, y); `reach` is the radius of the mark.
struct MarkLabel {
  double x = 0, y = 0, width = 0, height = 0, reach = 0;
};
// Both ends on the screen.
using ScreenLine = std::pair<PlanePoint, PlanePoint>;
// Top left corners of the labels: beside, above or below their marks, inside the area, over no mark and no
// other label, and over as few of the lines as can be. Earlier labels go first; none where there is no room.
std::vector<std::optional<PlanePoint>> place_labels(std::span<const MarkLabel> labels, const RectF& area,
                                                    std::span<const ScreenLine> lines = {});

// Which keys get one of `count` rows: those with the largest weights, in the order of the keys.
// NaN counts as largest.
std::vector<Index> keys_with_rows(std::span<const double> weights, Index count);

// Places one query's row of every head, one below the other, and beside them the words that the model
// predicts. A function of sizes alone. All lengths are pixels; `scale` is pixels per unit.

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
