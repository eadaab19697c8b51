// The colours of maps of all heads side by side: the same number has the same colour in every one, or each head's colours end
// at its own numbers. The choice between the two, the ranges, and what the legend says.
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
  // Gives each head's map, in the order of the heads, the range of its own numbers: of probabilities from 0, of other
  // numbers as far below 0 as above. Found anew only where the maps are of other numbers.
  void give(const std::vector<StagePart*>& maps, Index batch);

 private:
  std::weak_ptr<const Tensor> of_, mask_;
  Index batch_ = -1;
  std::vector<ValueRange> ranges_;
};

// "−2.1 … 2.1"
std::string range_text(ValueRange range);

// "all heads | each head", at the cursor, and its size in pixels. `action` gets the Selection with the other choice.
ImVec2 color_choice_size(const PanelContext& context);
void draw_color_choice(const PanelContext& context, PanelAction& action);

// Of a colour bar whose maps each have a range of their own: "scores, each head its own", and what stands at its ends.
std::string own_colors_caption(const StagePart& map);
RangeTicks own_colors_ticks(const StageBar& bar);

}  // namespace headwise
