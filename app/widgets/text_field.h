// A field to type into, of one line or of several that wrap. Unlike ImGui's it keeps every byte that is not
// edited, wraps, aligns to the right, and its cursor stands still, so that a window at rest draws nothing.
#pragma once

#include <string>
#include <string_view>

#include "app/widgets/widget_context.h"

namespace headwise {

struct TextFieldOptions {
  float width = 0.0f;       // pixels; 0: all that is there
  int lines = 1;            // more than 1: wraps, grows up to this many lines, then scrolls
  bool enter_ends = false;  // of several lines: Enter ends the typing, and only Shift+Enter breaks the line
  bool mono = false;
  bool align_right = false;  // of one line
  bool small = false;        // the height of a row of the setup
  bool wrong = false;        // outlined as an error
  bool draggable = false;    // a drag that begins here is the caller's, unless it was focused already
  std::string_view placeholder = {};  // shown dim while the text is empty
};

struct TextFieldResult {
  bool changed = false;
  bool focused = false;
  bool entered = false;  // Enter, where it breaks no line
};

// Draws the field as one ImGui item (hover, tooltips) and edits `text` in place while it has the focus.
TextFieldResult text_field(const WidgetContext& context, const char* id, std::string& text,
                           const TextFieldOptions& options = {});

}  // namespace headwise
