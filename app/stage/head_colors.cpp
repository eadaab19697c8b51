#include "app/stage/head_colors.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>

#include "app/stage/stage_choice.h"
#include "app/widgets/controls.h"
#include "app/widgets/tooltip.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 2> ways{"shared", "per head"};

}  // namespace

void HeadRanges::give(const std::vector<StagePart*>& maps, Index batch) {
  if (maps.empty()) return;
  const HeatmapSpec& first = maps.front()->spec;
  const TensorPtr mask = first.mask ? first.mask->tensor : nullptr;
  if (of_.lock() != first.values.tensor || mask_.lock() != mask || batch_ != batch ||
      ranges_.size() != maps.size()) {
    const bool probabilities = tensor_entry(maps.front()->matrix.name.id).probabilities;
    ranges_.clear();
    for (const StagePart* map : maps)
      ranges_.push_back(range_of(std::span(&map->spec, 1), !probabilities, probabilities));
    of_ = first.values.tensor;
    mask_ = mask;
    batch_ = batch;
  }
  for (std::size_t head = 0; head < maps.size(); ++head) maps[head]->spec.range = ranges_[head];
}

std::string range_text(ValueRange range) {
  const RangeTicks ticks = range_ticks(range, false, false);
  return ticks.hi.empty() ? ticks.lo : fmt::format("{} … {}", ticks.lo, ticks.hi);
}

ImVec2 color_choice_size(const PanelContext& context) {
  return segmented_control_size(context, ways);
}

void draw_color_choice(const PanelContext& context, PanelAction& action) {
  int chosen = context.selection.colors_by_head ? 1 : 0;
  if (stage_choice(context, "colors", ways, chosen)) {
    action.selection = context.selection;
    action.selection->colors_by_head = chosen == 1;
  }
  tooltip(context,
          "Colour scale of the maps. Shared: equal numbers have equal colours in every map. Per head: each "
          "head's colours end at its own largest number, so that weak patterns show beside strong ones.");
}

std::string own_colors_caption(const StagePart& map) {
  return fmt::format("{}, per head", to_string(map.matrix.name));
}

RangeTicks own_colors_ticks(const StageBar& bar) {
  const bool below = bar.range.lo < 0;
  return {below ? "−largest" : "0", "largest", below};
}

}  // namespace headwise
