// Text at a place, in whole pixels; and told to tests.
#pragma once

#include <imgui.h>

#include <cmath>
#include <string>

#include "app/widgets/measure.h"
#include "app/widgets/ui_probe.h"

namespace headwise {

inline void write_text(ImDrawList* list, ImFont* font, ImVec2 at, ImU32 color, const std::string& text) {
  const ImVec2 whole{std::floor(at.x), std::floor(at.y)};
  list->AddText(font, font->FontSize, whole, color, text.c_str());
  ui_says(text, whole);
}

// Ends at `right`.
inline void write_text_before(ImDrawList* list, ImFont* font, float right, float y, ImU32 color,
                              const std::string& text) {
  write_text(list, font, {right - width_of(font, text), y}, color, text);
}

}  // namespace headwise
