// Underlined words in a line of text that lead somewhere else.
#pragma once

#include <string_view>

#include "app/widgets/widget_context.h"

namespace headwise {

// Draws the words as one ImGui item in the font of captions; true if it was pressed, by a click or, with the
// focus, by Enter or Space. Reports its rectangle as `id`.
bool text_link(const WidgetContext& context, const char* id, std::string_view words, std::string_view what);
float text_link_width(const WidgetContext& context, std::string_view words);

}  // namespace headwise
