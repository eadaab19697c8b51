// Which cell of the stage is looked at: the one under the mouse, or the one that the arrows have reached where a map has the
// keyboard's focus. Each map that asks becomes a stop of the keyboard.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "core/picture/cell_geometry.h"

namespace headwise {

// Of a plane of cells; `name` tells it from the other planes that are drawn, `first` is where the arrows begin.
std::optional<std::pair<Index, Index>> plane_cell_looked_at(const PanelContext& context,
                                                            std::string_view name, const PlaneGeometry& plane,
                                                            std::pair<Index, Index> first = {0, 0});
// Of a part of the stage; the arrows begin at the pinned cell where it is in sight.
std::optional<CellRef> cell_looked_at(const PanelContext& context, std::string_view name,
                                      const StagePart& part, const PlaneGeometry& plane);

// The line that the arrows have reached of `count` lines that fill a rectangle, one stop of the keyboard; none where the
// mouse decides.
std::optional<Index> line_reached(const PanelContext& context, std::string_view name, const RectF& lines,
                                  Index count);
// Whether the arrows were moved after the mouse: what the mouse lies on is not looked at then.
bool keys_decide(const PanelContext& context);

// A press of the mouse in this frame, or of Enter or Space on the cell that the arrows have reached.
bool cell_pressed(const PanelContext& context);
// What was pressed is still down.
bool cell_held(const PanelContext& context);

}  // namespace headwise
