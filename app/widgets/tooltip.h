// What a control is, its formula or its shape, in a few words beside the mouse.
#pragma once

#include <string_view>

#include "app/widgets/widget_context.h"

namespace headwise {

// Belongs to the last ImGui item; appears when the mouse has rested on it for a moment.
void tooltip(const WidgetContext& context, std::string_view text);

}  // namespace headwise
