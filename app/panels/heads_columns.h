// The columns of the table of a model's heads: where they stand, their heads, and what is said of them.
#pragma once

#include <vector>

#include "app/panels/heads_table.h"

namespace headwise {

struct PlacedHeadColumn {
  HeadColumn id;
  float left = 0.0f, width = 0.0f;  // pixels, from the table's left edge
};
inline constexpr float heads_cell_padding = 6.0f;  // design units, at the left of what stands in a column

// In so many pixels; where they are too few, the last reaches out.
std::vector<PlacedHeadColumn> placed_head_columns(const WidgetContext& widgets, float width);

// At the cursor, which stands below them then. A click sorts.
void draw_head_columns(const PanelContext& context, const HeadsTable& table,
                       const std::vector<PlacedHeadColumn>& columns, HeadOrder& order);
float head_columns_height(const WidgetContext& widgets);

}  // namespace headwise
