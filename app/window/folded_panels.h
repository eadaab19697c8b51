// The panels that have no room around the stage: a tab at the edge of the window for each, which unfolds it.
#pragma once

#include <optional>

#include "app/widgets/widget_context.h"
#include "app/window/window_layout.h"

namespace headwise {

// "Settings", "Inspector", "Graph", "Pages".
const char* side_panel_name(SidePanel panel);

// A tab for `panel`, the `place`th from the top of a strip, its name turned; in a strip that is wider than high, the name
// lies. A click, or Enter with the focus, unfolds the panel or folds it again: `unfolded` changes.
void draw_panel_tab(const WidgetContext& context, const RectF& strip, int place, SidePanel panel,
                    std::optional<SidePanel>& unfolded);

}  // namespace headwise
