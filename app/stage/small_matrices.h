// In the layout 3·H, cuts Wᵀ into each head's own matrix: the columns that produce its block of the result.
#pragma once

#include <vector>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"

namespace headwise {

// Returns the part above the result, one matrix per head; empty for other layouts and pictures.
std::vector<StagePart> small_matrices(const PanelContext& context, const StageContent& content);

// Places matrix `i` of `count` in the rectangle of all of them: above its block of the result, with a gap to its
// neighbours.
RectF small_rect(const RectF& whole, std::size_t i, std::size_t count, double scale);

// Outlines the selected head's matrix; several query heads share one of k and v.
void draw_chosen_small(const PanelContext& context, const StageContent& content,
                       const std::vector<StagePart>& small, const RectF& whole);

}  // namespace headwise
