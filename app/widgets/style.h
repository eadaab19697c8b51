// The look of everything that ImGui draws by itself: menus, tooltips, scroll bars, popups.
#pragma once

#include "app/widgets/palette.h"

namespace headwise {

// Sets ImGui's style: flat, neutral, corners rounded by 4 design units.
void apply_style(const Palette& palette, float scale);

}  // namespace headwise
