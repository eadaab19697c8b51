// A text in a few lines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/widgets/painter.h"

namespace headwise {

// At most `most` ≥ 1 lines of at most `width` pixels, broken at blanks;
// what does not fit into the last one is cut, with “…”.
std::vector<std::string> wrapped_lines(const std::string& text, ImFont* font, float width, std::size_t most);

// Writes them below one another, and tells tests each. Returns how high they are, in pixels.
float write_lines(const Painter& paint, ImFont* font, ImVec2 at, const Ink& ink,
                  const std::vector<std::string>& lines);

}  // namespace headwise
