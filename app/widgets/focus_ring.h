// The outline of the control with keyboard focus.
#pragma once

#include "app/widgets/widget_context.h"

namespace headwise {

// Call last in a frame: drawn over everything else, so that nothing hides it.
void draw_focus_ring(const WidgetContext& context);

}  // namespace headwise
