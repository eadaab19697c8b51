// Explains a control in a few words: what it is, its formula or its shape.
#pragma once

#include <string_view>

#include "app/widgets/painter.h"

namespace headwise {

// Belongs to the last ImGui item; appears when the mouse has rested on it for a moment, next to the column of
// controls that contains it, else above or below it. Disappears at a click, a key press, and after enough
// time to read it. Also appears if the control has the focus and its tooltip was requested.
void tooltip(const WidgetContext& context, std::string_view text);
// The same, and where the item is, by name, for tests (app/widgets/ui_probe.h).
void named_item(const WidgetContext& context, std::string_view name, std::string_view text);
// The same for a part of that item, while the mouse is on it.
void tooltip_at_once(const WidgetContext& context, std::string_view text);

}  // namespace headwise
