// The dotted line below a word that the model hardly knows, the same in the text and on the axes.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace headwise {

// From `from` to the right, as far as `until`; `scale`: pixels per design unit.
inline void draw_dotted_line(ImDrawList* list, ImVec2 from, float until, ImU32 color, float scale) {
  const float dot = std::max(1.0f, std::round(1.5f * scale));
  for (float x = from.x; x + dot <= until + 0.5f; x += 2 * dot)
    list->AddRectFilled({x, from.y}, {x + dot, from.y + dot}, color);
}

}  // namespace headwise
