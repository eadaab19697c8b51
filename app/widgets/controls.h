// Flat controls: buttons with a text or a drawn sign such as ◀, links, choices, sliders.
#pragma once

#include <span>
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

// Underlined words in a line of text that lead somewhere else, as one ImGui item in the font of captions;
// true if it was pressed, by a click or, with the focus, by Enter or Space. Reports its rectangle as `id`.
bool text_link(const WidgetContext& context, const char* id, std::string_view words, std::string_view what);
float text_link_width(const WidgetContext& context, std::string_view words);

// A choice among a few options, all visible: "off | on", "packed | 3 | 3·H".
struct SegmentedOptions {
  float width = 0.0f;  // pixels, if the labels can fit; 0: as wide as the labels need
  bool enabled = true;
};

// Width and height in pixels that the labels need.
ImVec2 segmented_control_size(const WidgetContext& context, std::span<const std::string_view> labels);

// The smallest width that still keeps them apart.
float segmented_control_least_width(const WidgetContext& context, std::span<const std::string_view> labels);

// Draws it as one ImGui item. True if another option was chosen in this frame, by a click or, with the focus,
// by arrow keys, Home, End or Space. `chosen` may be -1: none.
bool segmented_control(const WidgetContext& context, const char* id, std::span<const std::string_view> labels,
                       int& chosen, const SegmentedOptions& options = {});
// In at most `room` pixels, with a probe for each option, "PROBES/LABEL".
bool narrow_segmented_control(const WidgetContext& context, const char* id,
                              std::span<const std::string_view> labels, int& chosen, float room,
                              std::string_view probes);

// A number between two ends, set by dragging: the result follows the mouse.
struct SliderOptions {
  double least = 0.0, most = 1.0;
  double step = 0.1;     // for the arrow keys; 10 times that with Page Up and Page Down
  int stops = 0;         // more than 1: this many evenly spaced positions, and nothing in between
  double normal = 1.0;   // value restored by a double click; marked with a tick
  float width = 100.0f;  // pixels
  bool enabled = true;   // false: shows its value, dim
};

struct SliderResult {
  bool changed = false;
  bool held = false;  // the drag is still under way: this edit continues
};

// Draws it as one ImGui item with the height of a row's control. Changed by dragging, a click, a double click
// and, with the focus, ← → Home End Page Up Page Down.
SliderResult slider(const WidgetContext& context, const char* id, double& value, const SliderOptions& options);

}  // namespace headwise
