// The plane of cells, pixel for pixel: the rule that rasterise_plane follows and that the window's shader
// repeats. R×C cells occupy W×H pixels; everything is in integers; x,
// y count pixels from the upper left corner.
//
// Cells: column c owns the pixels x0(c) <= x < x0(c+1) with x0(c) = cell_begin(c, C, W): those whose centres
// lie in [c, c+1)·W/C, so pixel x lies in column floor((2x+1)·C / (2W)). Rows likewise. Below, u = x − x0(c)
// and cw = x0(c+1) − x0(c); v and ch likewise.
//
// Smaller cells: if there are fewer pixels than cells (W < C), pixel x represents all the columns that it
// touches, floor(x·C/W) <= c < ceil((x+1)·C/W), with u = 0 and cw = 1. It shows the most significant of its
// cells, so that no spike disappears: NaN before ±inf before the finite value of the largest magnitude (for a
// diverging map; else the largest value) before a cell that is only blocked; ties go to the first in
// row-major order. The range does not matter here.
//
// Gap: in every column but the first, the pixels u < gap are transparent (r = g = b = a = 0), so that the
// background shows. Rows likewise. Not in blocked cells: a blocked area is one calm hatched area.
//
// Colour, by CellKind: value and blocked_value color_at; blocked blocked_color; nan nan_color; minus_inf and
// plus_inf the first and the last entry of the table.
//
// Hatch:
//   blocked        if cross = 0, the pixels with (x + y) mod hatch_period < hatch_width are hatch_color
//   blocked_value  with d = (x + y) mod kept_period, the pixels with d < hatch_width are white, those with
//                  d < 2·hatch_width then black: a pair of lines that stands out on any colour
//
// Marks, if mark > 0 (of a blocked cell if cross > 0), in ink_on(the cell's colour), with a = |2u + 1 − cw|
// and b = |2v + 1 − ch|:
//   blocked    a small square cross:  −cross < e <= cross  and  5·max(a, b) <= 2·min(cw, ch), with e = b − a
//              for odd cw and a − b for even: cross pixels thick, whether the sides are odd or even
//   nan        a cross:  |a·ch − b·cw| <= mark·max(cw, ch)  and  4a <= 3cw
//   minus_inf  a minus:  b <= mark and 2a <= cw
//   plus_inf   a plus:   that, or a <= mark and 2b <= ch
#pragma once

#include <optional>
#include <utility>

#include "core/export/heatmap.h"
#include "core/export/image.h"
#include "core/export/picture.h"

namespace headwise {

struct PlaneRule {
  int side = 0;          // the shorter side of a cell, rounded down; 0 if a cell is smaller than a pixel
  int gap = 0;           // no gap below 10 pixels per side, then 1 + side / 48
  int hatch_period = 6;  // side / 4, within 6 … 16
  int kept_period = 6;  // hatch_period; from 8 pixels per side on twice that: numbers stand between the lines
  int hatch_width = 1;  // hatch_period / 6
  int mark = 0;         // no mark below 5 pixels per side, then side / 8, at least 1
  int cross = 0;        // of blocked cells: none below 10 pixels per side, then 1 + side / 32
  friend bool operator==(const PlaneRule&, const PlaneRule&) = default;
};

// rows, cols, width and height > 0.
PlaneRule plane_rule(Index rows, Index cols, int width, int height);

// The first pixel of cell `index` of `count` along `pixels`: ceil(index·pixels/count − 1/2). For index =
// count: pixels.
int cell_begin(Index index, Index count, int pixels);

// rasterise_plane with a different rule: without gaps (gap = 0), hatch (hatch_width = 0) or marks (mark = 0),
// for painters that draw those in their own way.
Image rasterise_plane(const HeatmapSpec& spec, int width, int height, const PlaneRule& rule);

// Where the cells of a plane are on the screen: the same whole pixels as in the plane's rule.

// Cells [row_begin, row_end) × [col_begin, col_end), as drawn.
struct CellBox {
  Index row_begin = 0, row_end = 0, col_begin = 0, col_end = 0;
  friend bool operator==(const CellBox&, const CellBox&) = default;
};

struct PlaneGeometry {
  int x = 0, y = 0, width = 0, height = 0;  // pixels
  Index rows = 0, cols = 0;
  int gap = 0;  // between cells, before each except the first

  // The box without the gap before it.
  RectF rect(const CellBox& box) const;
  RectF cell(Index row, Index col) const { return rect({row, row + 1, col, col + 1}); }
  // Row and column of the cell at a point; nullopt outside.
  std::optional<std::pair<Index, Index>> cell_at(double px, double py) const;
};

// The corners are rounded to whole pixels, as in the renderer.
PlaneGeometry plane_geometry(const RectF& rect, Index rows, Index cols);

}  // namespace headwise
