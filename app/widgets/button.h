// Flat buttons: text, or a drawn sign such as ◀.
#pragma once

#include <string>
#include <string_view>

#include "app/widgets/painter.h"

namespace headwise {

// An invisible ImGui item at the cursor, pressed by a click or, with the focus, by Enter or Space.
struct PressItem {
  Box box;
  bool pressed = false, hovered = false, focused = false;
};
PressItem press_item(const WidgetContext& context, const char* id, ImVec2 size, bool enabled = true);

enum class ButtonLook { plain, filled };  // plain has no background until the mouse is over it
enum class ButtonSign { back, play, pause, forward };

// Draws it as one ImGui item; true if it was pressed, by a click or, with the focus, by Enter or Space.
bool text_button(const WidgetContext& context, const char* id, std::string_view label,
                 ButtonLook look = ButtonLook::filled, bool enabled = true);

// A button whose label may take several lines, in a type of its own. It is as wide as its label,
// at most `wrap` pixels.
struct ButtonShape {
  Type type;
  ImVec2 size;
};
ButtonShape button_shape(float scale, const Type& type, float wrap, const std::string& label);
// `shape` may be wider than its label, which then stands at the left.
bool wrapped_button(const WidgetContext& context, const char* id, const std::string& label,
                    const ButtonShape& shape, ButtonLook look = ButtonLook::filled, bool enabled = true);

// A sign, followed by a word if given; `height` in pixels.
bool sign_button(const WidgetContext& context, const char* id, ButtonSign sign, float height,
                 std::string_view label = {}, bool enabled = true);

}  // namespace headwise
