// A small padlock in a corner: this head is frozen.
#pragma once

#include <imgui.h>

#include "app/widgets/painter.h"
#include "core/picture/font.h"

namespace headwise {

// At the right end of the top edge of `rect`, on its own background;
// nothing if the rectangle has no room for it.
void draw_lock(const Painter& paint, const RectF& rect);

}  // namespace headwise
