// The outline of the control that the keyboard speaks to.
#pragma once

#include "app/widgets/widget_context.h"

namespace headwise {

// Behind all else of a frame: over whatever is drawn, so that nothing hides it.
void draw_focus_ring(const WidgetContext& context);

}  // namespace headwise
