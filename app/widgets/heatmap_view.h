// What is drawn on a plane of cells: numbers where they fit, lines between the blocks of heads, outlines.
#pragma once

#include <string>

#include "app/widgets/painter.h"
#include "core/picture/cell_geometry.h"
#include "core/picture/heatmap.h"

namespace headwise {

// Numbers in the cells, if the widest of this range fits with `air` units above and below together; only
// cells inside the list's clip rectangle are considered. A blocked cell shows its blocked_text
// (core/picture/cell_text.h) instead of its cross. Returns false if they do not fit, and then draws nothing.
// `opacity` from 0 to 1. `large`: for the back row, in the largest font that the cells have room for.
bool draw_cell_digits(const Painter& paint, const PlaneGeometry& plane, const HeatmapSpec& spec,
                      bool probability, float air = 2.0f, float opacity = 1.0f, bool large = false);

// A word or a number in the middle of a cell, in the ink that its colour `ground` asks for, as it stands in
// draw_cell_digits. `plated`: on a box of that colour, which covers the cross or the hatch of a blocked cell.
// Draws nothing and returns false where the text is wider than the cell.
struct CellWord {
  const std::string& text;
  Rgba8 ground;
  bool plated = false;
  float size = 0.0f;  // of the font, in pixels; 0: its own
  float opacity = 1.0f;
  ImFont* font = nullptr;  // null: the small one of digits
};
bool draw_cell_word(const Painter& paint, const RectF& cell, const CellWord& word);

// The smallest cell, including its gap, in which draw_cell_digits writes numbers of this spec.
ImVec2 least_digit_cell(const WidgetContext& context, const HeatmapSpec& spec, bool probability,
                        float air = 2.0f);

// A line in the background colour between blocks of `block` columns (or rows); nothing for 0.
void draw_column_blocks(const Painter& paint, const PlaneGeometry& plane, Index block);
void draw_row_blocks(const Painter& paint, const PlaneGeometry& plane, Index block);

// `width` in pixels, outside the box's cells, with a hairline in the background colour around it so that it
// stands out on any cell.
void draw_box_outline(const Painter& paint, const PlaneGeometry& plane, const CellBox& box, ImU32 color,
                      float width);

// Diagonal lines in the background colour over the whole plane, and the plane itself paler:
// marks it as muted.
void draw_muted(const Painter& paint, const RectF& rect);

}  // namespace headwise
