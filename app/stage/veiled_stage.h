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

// Leaves the operands, without the numbers that are derived from the result: ranges, thumbnails, sums.
void veil_result(StageContent& content);

// A calm rectangle that says when its numbers come. `cells`: with the borders of the cells behind it, one of which, `cell`
// (row, column), is pointed at.
void draw_veil(const PanelContext& context, const RectF& area, const PlaneGeometry* cells = nullptr,
               const std::optional<std::pair<Index, Index>>& cell = {});

}  // namespace headwise
