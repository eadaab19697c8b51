// Between the scores and their softmax, the two numbers that each query's softmax uses: its maximum, in the
// colours of the scores, and Σ exp(x − max). One column each left of the result or, where queries are
// columns, one row each above it.
#pragma once

#include "app/content/softmax_figures.h"
#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/panels/panel.h"

namespace headwise {

// How many of the two fit with a number per query; the maximum is always drawn, because it has a colour.
// The height in pixels from which on a row's figures are written as numbers.
double least_figure_row(const PanelContext& context);
int softmax_figure_count(const PanelContext& context, Index queries, double length);

void draw_softmax_figures(const PanelContext& context, const SoftmaxFigures& figures, const StagePart& scores,
                          const StageLayout& layout);

}  // namespace headwise
