// Which cell of the stage is focused: the one under the mouse, or the one reached with the arrow keys while a
// map has keyboard focus. Each map that calls this becomes a tab stop.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "core/picture/cell_geometry.h"

namespace headwise {

// For a plane of cells; `name` distinguishes it from the other planes drawn,
// `first` is where the arrow keys start.
std::optional<std::pair<Index, Index>> plane_cell_looked_at(const PanelContext& context,
                                                            std::string_view name, const PlaneGeometry& plane,
                                                            std::pair<Index, Index> first = {0, 0});
// For a part of the stage; the arrow keys start at the pinned cell if it is visible.
std::optional<CellRef> cell_looked_at(const PanelContext& context, std::string_view name,
                                      const StagePart& part, const PlaneGeometry& plane);

// The line reached with the arrow keys, of `count` lines that fill a rectangle, which is one tab stop; none
// where the mouse decides.
std::optional<Index> line_reached(const PanelContext& context, std::string_view name, const RectF& lines,
                                  Index count);
// Whether the arrow keys were used more recently than the mouse:
// what lies under the mouse is then not focused.
bool keys_decide(const PanelContext& context);

// A mouse press in this frame, or Enter or Space on the cell reached with the arrow keys.
bool cell_pressed(const PanelContext& context);
// Whether what was pressed is still down.
bool cell_held(const PanelContext& context);

}  // namespace headwise
