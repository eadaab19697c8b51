// The view of all heads: the step's result at every head as a grid, in shared colours or each in its own,
// each with its number.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/cell_legend.h"
#include "app/stage/head_colors.h"
#include "core/answers/head_statistics.h"

namespace headwise {

// A few words on what each head does, from its attention weights: how sharply it attends, how far away,
// and where most.

// The statistics of all heads in one batch, cached as long as the weights live.
class HeadFigures {
 public:
  // Empty if the trace has no attn_weights.
  const std::vector<HeadStatistics>& of(const Trace& trace, Index batch);

 private:
  std::weak_ptr<const Tensor> weights_;
  Index batch_ = -1;
  std::vector<HeadStatistics> heads_;
};

// "entropy 0.32 of 2.48", "looks 1.1 back", "it → animal .93", the last only if a row has a choice. For a
// head without a row of numbers: one line that says so.
std::vector<std::string> head_words(const PanelContext& context, const HeadStatistics& head);

struct AllHeadsState {
  HeadFigures figures;
  HeadRanges ranges;  // used where each head has its own colours
  CellLegend legend;
};

// `under_mouse` is set to the cell under the mouse, if any. Maps of queries and keys carry a few words on
// what the head does, where they fit.
PanelAction draw_all_heads(const PanelContext& context, AllHeadsState& state, const StageContent& content,
                           RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
