// Flat buttons: text, or a sign such as ◀ that is drawn.
#pragma once

#include <string_view>

#include "app/widgets/widget_context.h"

namespace headwise {

enum class ButtonLook { plain, filled };  // plain has no ground until the mouse is over it
enum class ButtonSign { back, play, pause, forward };

// Draws it as one ImGui item; true where it was pressed, by click or, with the focus, by Enter or Space.
bool text_button(const WidgetContext& context, const char* id, std::string_view label,
                 ButtonLook look = ButtonLook::filled, bool enabled = true);
// A sign, and behind it a word where there is one; `height` in pixels.
bool sign_button(const WidgetContext& context, const char* id, ButtonSign sign, float height,
                 std::string_view label = {}, bool enabled = true);

}  // namespace headwise
