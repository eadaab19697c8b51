// The cells of a heatmap inside an ImGui window, and what is drawn on them: numbers where they fit, lines
// between the blocks of heads, outlines, marks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <imgui.h>

#include "app/platform/heatmap_renderer.h"
#include "app/widgets/painter.h"
#include "core/export/font.h"
#include "core/export/heatmap.h"
#include "core/export/picture.h"
#include "core/export/plane_rule.h"

namespace headwise {

// Planes of cells are drawn by a shader, bypassing ImGui. To get a frame as vectors,
// they are recorded instead.

struct PlaneRecording {
  std::vector<std::vector<PlaneItem>> batches;  // in the order in which they were drawn
};

// Records planes here from now on instead of drawing them; null: they are drawn.
// Whoever sets it must reset it.
void record_planes(PlaneRecording* recording);
PlaneRecording* plane_recording();

// Stands for recorded planes in a draw list; its user data is the number of the batch.
void recorded_planes(const ImDrawList*, const ImDrawCmd*);

struct HeatmapPlane {
  const HeatmapSpec* spec;  // not null; needed during the call only
  ImVec2 min, max;          // on the screen, in pixels
};

// Draws the planes between what was drawn before and what follows, clipped like everything in the list. The
// corners are rounded to whole pixels, so that all cells have the same number of pixels if their width
// divides the plane. Many planes in one call cost less than as many calls. Draws cells only:
// no labels, digits or colour bar.
void draw_heatmap_planes(ImDrawList* list, HeatmapRenderer& renderer, std::span<const HeatmapPlane> planes);
void draw_heatmap_plane(ImDrawList* list, HeatmapRenderer& renderer, const HeatmapSpec& spec, ImVec2 min,
                        ImVec2 max);

// Numbers in the cells, if the widest of this range fits with `air` units above and below together; only
// cells inside the list's clip rectangle are considered. A blocked cell shows its blocked_text
// (core/export/number_text.h) instead of its cross. Returns false, and draws nothing, if they do not fit.
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

// A small padlock, this head is frozen: at the right end of the top edge of `rect`, on its own background;
// nothing if the rectangle has no room for it.
void draw_lock(const Painter& paint, const RectF& rect);

}  // namespace headwise
