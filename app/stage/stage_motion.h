// A step being made on the stage: its operands come in from where the step before left them, then the result
// is made as its rule says (app/content/motion_plan.h).
#pragma once

#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/panels/panel.h"

namespace headwise {

// The part of a motion that brings the operands in; the result is made in the rest.
inline constexpr double entering_share = 0.3;

// The layout with its operands on their way, at context.motion: from where `before` (the step before, with its
// layout) has the same matrix.
StageLayout entering_layout(const PanelContext& context, const StageContent& content, const StageLayout& layout,
                            const StageContent& before, const StageLayout& layout_before);

// Drawn over the still picture at context.motion < 1: what is not made yet is covered, and what moves moves.
void draw_making(const PanelContext& context, const StageContent& content, const StageContent& before,
                 const StageLayout& layout);

}  // namespace headwise
