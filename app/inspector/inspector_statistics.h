// The figures of the row of the focused number, and of the whole map that it belongs to.
#pragma once

#include <memory>
#include <optional>

#include "app/content/row_statistics.h"
#include "app/panels/panel.h"
#include "app/widgets/text_column.h"
#include "core/trace/steps.h"

namespace headwise {

// The statistics of the map that the last frame showed, kept until another one is shown.
struct MapStatisticsState {
  std::weak_ptr<const Tensor> of, masked_by;
  Index offset = -1;
  CellStatistics statistics;
};

// Draws "THIS ROW"; nothing if no number is focused, or while a page hides it.
void draw_row_statistics(const PanelContext& context, TextColumn& column);

// Draws "THIS MAP": that of the focused number, else the first of the step's result; nothing while a page hides it.
void draw_map_statistics(const PanelContext& context, MapStatisticsState& state, TextColumn& column,
                         const std::optional<StepPicture>& picture);

}  // namespace headwise
