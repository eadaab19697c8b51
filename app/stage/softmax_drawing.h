// Between the scores and their softmax, what each query is divided by: its maximum, in the colours of the scores, and
// Σ exp(x − max). A column each before the result, or, where queries are columns, a row each over it.
#pragma once

#include "app/content/softmax_figures.h"
#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/panels/panel.h"

namespace headwise {

// How many of the two have room for a number a query; the maximum stays in any case, for it has a colour.
int softmax_figure_count(const PanelContext& context, Index queries, double length);

void draw_softmax_figures(const PanelContext& context, const SoftmaxFigures& figures, const StagePart& scores,
                          const StageLayout& layout);

}  // namespace headwise
