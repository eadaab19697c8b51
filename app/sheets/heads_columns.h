// The columns of the table of a model's heads: their positions, headers and tooltips.
#pragma once

#include <imgui.h>

#include <optional>
#include <vector>

#include "app/sheets/heads_table.h"

namespace headwise {

struct PlacedHeadColumn {
  HeadColumn id;
  float left = 0.0f, width = 0.0f;  // pixels, from the table's left edge
};
inline constexpr float heads_cell_padding = 6.0f;  // design units, left of a column's contents

// In this many pixels; if these are too few, the columns are wider all the same, and their table scrolls sideways under the
// first, which stays.
std::vector<PlacedHeadColumn> placed_head_columns(const WidgetContext& widgets, float width);

// At `at`, in this many pixels, scrolled sideways by `scrolled`. A click sorts. Returns the column that the keyboard has
// just reached.
std::optional<HeadColumn> draw_head_columns(const PanelContext& context, const HeadsTable& table,
                                            const std::vector<PlacedHeadColumn>& columns, ImVec2 at,
                                            float width, float scrolled, HeadOrder& order);
float head_columns_height(const WidgetContext& widgets);

}  // namespace headwise
