// What a control is, its formula or its shape, in a few words.
#pragma once

#include <string_view>

#include "app/widgets/widget_context.h"

namespace headwise {

// Belongs to the last ImGui item; appears when the mouse has rested on it for a moment, beside the column of controls that it
// stands in, else over or under it. Goes at a click, at a key, and when there was time to read it. It appears too where the
// control has the focus and was asked for.
void tooltip(const WidgetContext& context, std::string_view text);

}  // namespace headwise
