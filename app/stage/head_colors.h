// The colours of maps of all heads side by side: either the same number has the same colour in all of them,
// or each head's colours span its own numbers. The choice between the two, the ranges,
// and the text of the legend.
#pragma once

#include <imgui.h>

#include <memory>
#include <string>
#include <vector>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "core/picture/color_bar.h"

namespace headwise {

class HeadRanges {
 public:
  // Gives each head's map, in the order of the heads, the range of its own numbers: probabilities start at 0,
  // other numbers get a range symmetric about 0. Recomputed only when the maps show other numbers.
  void give(const std::vector<StagePart*>& maps, Index batch);

 private:
  std::weak_ptr<const Tensor> of_, mask_;
  Index batch_ = -1;
  std::vector<ValueRange> ranges_;
};

// "−2.1 … 2.1"
std::string range_text(ValueRange range);

// "shared | per head", at the cursor, and its size in pixels.
// `action` receives the Selection with the new choice.
ImVec2 color_choice_size(const PanelContext& context);
void draw_color_choice(const PanelContext& context, PanelAction& action);

// For a colour bar whose maps each have their own range: the caption "scores, each head its own", and the
// labels at its ends.
std::string own_colors_caption(const StagePart& map);
RangeTicks own_colors_ticks(const StageBar& bar);

}  // namespace headwise
