// A knob on a line, for a number of which only the size matters.
#pragma once

#include "app/widgets/widget_context.h"

namespace headwise {

// `position` in [0,1]; `width` in pixels. One ImGui item: dragged or clicked by the mouse, and with the focus moved by the
// arrows (a fortieth of the way), Home and End. True where it moved in this frame.
bool slider(const WidgetContext& context, const char* id, double& position, float width);

}  // namespace headwise
