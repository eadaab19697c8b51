// The stage while a page asks: what would give the answer away is covered (app/panels/veil.h).
#pragma once

#include <optional>
#include <utility>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"

namespace headwise {

// Whether the whole picture is covered: a later step, or a view that has no place for what is hidden.
bool veil_covers_stage(const PanelContext& context);
// Whether the result of the shown step is covered, and its operands are not.
bool veil_covers_result(const PanelContext& context);

// Leaves the operands that the veil does not hide, without the numbers that are derived from the result:
// ranges, thumbnails, sums.
void veil_result(const Veil& veil, StageContent& content);

// A calm rectangle that says when its numbers come, or `told`. `cells`: with the borders of the cells behind
// it, one of which, `cell` (row, column), is pointed at.
struct VeiledCells {
  const PlaneGeometry* cells = nullptr;
  std::optional<std::pair<Index, Index>> cell = {};
  const char* caption = "hidden until you answer";  // null: nothing
};
void draw_veil(const PanelContext& context, const RectF& area, const VeiledCells& shown = {});

// The veiled map `part` of a page that asks for a mask: its pairs are painted with the mouse or the keys.
void draw_mask_to_paint(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane);
// On the same map, once the page has answered: outlines the pairs that were painted wrong.
void draw_wrong_pairs(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane);

}  // namespace headwise
