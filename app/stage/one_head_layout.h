// Places the product of the step, its operands and the thumbnails in the view of one head, and draws the two
// numbers that stand between each query's scores and their softmax.
#pragma once

#include <string>

#include "app/content/map_figures.h"
#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/panels/panel.h"
#include "app/stage/head_thumbnails.h"

namespace headwise {

// Places them all; in a small window the thumbnails give way first, then the colour bars.
StageLayout one_head_layout(const PanelContext& context, const StageContent& content,
                            const std::vector<HeadName>& names, const RectF& area);

// Returns whether a colour bar applies only to the thumbnails.
bool is_of_thumbnails(const StageContent& content, std::size_t bar);
// Returns the caption of a bar. Thumbnails that share the bar with a larger map state themselves that each
// has its own colours.
std::string bar_caption(const PanelContext& context, const StageContent& content, std::size_t bar);

// Of each query's softmax: its maximum, in the colours of the scores, and Σ exp(x − max). One column each
// left of the result or, where queries are columns, one row each above it.

void draw_softmax_figures(const PanelContext& context, const SoftmaxFigures& figures, const StagePart& scores,
                          const StageLayout& layout);

}  // namespace headwise
