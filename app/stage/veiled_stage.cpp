#include "app/stage/veiled_stage.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/panels/veil.h"
#include "app/stage/stage_cells.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// The borders of the cells, unless they are so small that they would be all borders.
void draw_borders(const PanelContext& context, const PlaneGeometry& plane) {
  const Painter paint = context.painter();
  const float line = context.hairline();
  const double least = 5.0 * context.scale;  // pixels
  const ImU32 border = im_color(context.palette.border);
  const Box box = plane;
  for (Index row = 1; row < plane.rows && plane.height >= least * static_cast<double>(plane.rows); ++row) {
    const auto y = float(plane.cell(row, 0).y);
    paint.line({box.min.x, y}, {box.max.x, y}, border, line);
  }
  for (Index col = 1; col < plane.cols && plane.width >= least * static_cast<double>(plane.cols); ++col) {
    const auto x = float(plane.cell(0, col).x);
    paint.line({x, box.min.y}, {x, box.max.y}, border, line);
  }
}

// The query and the key of a drawn cell.
std::pair<Index, Index> pair_of(const StagePart& part, Index row, Index col) {
  const CellRef cell = cell_at(part.matrix, row, col);
  return {cell.index[cell.index.size() - 2], cell.index.back()};
}

// A stroke over the pairs: all on its path from the last one are painted.
void paint_pairs(const PanelContext& context, const StagePart& part,
                 const std::optional<std::pair<Index, Index>>& cell, AnswerMask& mask) {
  if (!cell_held(context)) mask.painting = false;
  if (!cell) return;
  const auto [query, key] = pair_of(part, cell->first, cell->second);
  if (cell_pressed(context) && mask.has(query, key)) {
    mask.painting = mask.touched = true;
    mask.blocks = !mask.blocked[mask.place(query, key)];
    mask.last = {query, key};
  }
  if (!mask.painting) return;
  for (const auto& [at_query, at_key] : cells_between(mask.last, {query, key}))
    if (mask.has(at_query, at_key)) mask.blocked[mask.place(at_query, at_key)] = mask.blocks;
  mask.last = {query, key};
}

}  // namespace

bool veil_covers_stage(const PanelContext& context) {
  if (!context.veil) return false;
  const Selection& selection = context.selection;
  if (selection.step > context.veil->from) return true;
  const bool before = selection.step < context.veil->from;
  switch (selection.view) {
    case StageView::one_head:
      return false;
    case StageView::all_heads:
    case StageView::memory:
      return !before;
    default:
      return true;  // they show the scores, the weights or the output, whatever the step
  }
}

bool veil_covers_result(const PanelContext& context) {
  return context.veil && !veil_covers_stage(context) && context.selection.step == context.veil->from;
}

void veil_result(const Veil& veil, StageContent& content) {
  content.veiled = true;
  content.head_total = 0;
  content.bars.clear();
  content.row_figures = content.col_figures = content.mask_to_come = false;
  content.sink.reset();
  for (std::optional<StagePart>* operand : {&content.left, &content.above})
    if (veil.mask && *operand && veil.hides((*operand)->matrix.name)) operand->reset();
}

void draw_veil(const PanelContext& context, const RectF& area, const VeiledCells& shown) {
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  const float line = context.hairline();
  paint.fill(area, palette.control);
  paint.outline(area, palette.border, line);
  if (shown.cells) draw_borders(context, *shown.cells);
  if (shown.caption) {
    const float room = float(area.width) - 12.0f * context.scale;
    ImFont* sign = context.fonts.title;
    ImFont* font = context.presentation ? context.fonts.caption : context.fonts.small;
    const std::string words = fitted_clauses(shown.caption, font, room);
    const ImVec2 middle(float(area.x + area.width / 2), float(area.y + area.height / 2));
    paint.text(sign, {middle.x, middle.y - sign->FontSize}, palette.text, "?", Align::middle);
    paint.say(font, {middle.x, middle.y + 2 * context.scale}, palette.text_dim, words, Align::middle);
  }
  ui_probe("stage/veil", area);
  if (shown.cells && shown.cell)
    paint.outline(shown.cells->cell(shown.cell->first, shown.cell->second), palette.focus, 2 * line);
}

void draw_mask_to_paint(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane) {
  AnswerMask& mask = *context.answer_mask;
  const auto cell = pointed_plane_cell(context, "result", plane);
  paint_pairs(context, part, cell, mask);
  draw_veil(context, plane_rect(plane),
            {&plane, {}, mask.touched ? nullptr : "hidden: paint the pairs that are blocked"});
  const Painter paint = context.painter();
  const float line = context.hairline();
  const ImU32 ground = im_color(context.palette.text_faint), cross = im_color(context.palette.text);
  const ImU32 outside = im_color(context.palette.panel);
  for (Index row = 0; row < plane.rows; ++row) {
    for (Index col = 0; col < plane.cols; ++col) {
      const auto [query, key] = pair_of(part, row, col);
      const Box box = plane.cell(row, col);
      if (!mask.has(query, key)) {
        paint.fill(box, outside);  // is not asked for
      } else if (mask.blocked[mask.place(query, key)]) {
        paint.fill(box, ground);
        paint.line(box.min, box.max, cross, line);
        paint.line({box.min.x, box.max.y}, {box.max.x, box.min.y}, cross, line);
      }
    }
  }
  if (cell) paint.outline(plane.cell(cell->first, cell->second), context.palette.focus, 2 * line);
}

void draw_wrong_pairs(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane) {
  const AnswerMask& mask = *context.answer_mask;
  if (mask.wrong.empty() || !is_pair_map(part.matrix)) return;
  const Painter paint = context.painter();
  const float line = std::max(2.0f, std::round(2.0f * context.scale * context.palette.stroke));
  const float inset = std::floor(line / 2);
  for (Index row = 0; row < plane.rows; ++row) {
    for (Index col = 0; col < plane.cols; ++col) {
      const auto [query, key] = pair_of(part, row, col);
      if (!mask.has(query, key) || !mask.wrong[mask.place(query, key)]) continue;
      paint.outline(Box(plane.cell(row, col)).grown(-inset), context.palette.error, line);
    }
  }
  ui_probe("stage/wrong_pairs", plane);
}

}  // namespace headwise
