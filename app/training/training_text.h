// Text at a place, in whole pixels; and told to tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <imgui.h>

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

// A text in a few lines.

// At most `most` ≥ 1 lines of at most `width` pixels, broken at blanks; what does not fit into the last one is cut, with “…”.
std::vector<std::string> wrapped_lines(const std::string& text, ImFont* font, float width, std::size_t most);

// Writes them below one another, and tells tests each. Returns how high they are, in pixels.
float write_lines(ImDrawList* list, ImFont* font, ImVec2 at, ImU32 color,
                  const std::vector<std::string>& lines);

}  // namespace headwise
