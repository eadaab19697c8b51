// A step being computed on the stage: its operands move in from where the previous step left them, then the
// result is built as its rule says (app/content/motion.h).
#pragma once

#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/panels/panel.h"

namespace headwise {

// The share of a motion that brings the operands in; the result is built in the rest.
inline constexpr double entering_share = 0.3;

// The layout with its operands in transit at context.motion: from where `before` (the previous step, with its
// layout) has the same matrix.
StageLayout entering_layout(const PanelContext& context, const StageContent& content, const StageLayout& layout,
                            const StageContent& before, const StageLayout& layout_before);

// Draws over the still picture at context.motion < 1: what is not computed yet is covered, and moving parts
// are drawn in motion.
void draw_making(const PanelContext& context, const StageContent& content, const StageContent& before,
                 const StageLayout& layout);

}  // namespace headwise
