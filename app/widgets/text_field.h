// A text field of one line or of several that wrap. Unlike ImGui's, it keeps every byte that is not edited,
// wraps, can align right, and its cursor does not blink, so that an idle window draws nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/widgets/painter.h"

namespace headwise {

// A passage with a dotted line below it.
struct TextMark {
  std::size_t begin = 0, end = 0;  // bytes
  std::string_view what;           // why it is marked, a sentence
};

struct TextFieldOptions {
  float width = 0.0f;       // pixels; 0: all available
  int lines = 1;            // more than 1: wraps, grows up to this many lines, then scrolls
  bool enter_ends = false;  // several lines: Enter ends typing, and only Shift+Enter breaks the line
  bool mono = false;
  ImFont* font = nullptr;    // other than the usual one
  bool align_right = false;  // one line only
  bool small = false;        // the height of a row of the setup
  bool wrong = false;        // outlined as an error
  // a drag that begins here is left to the caller, unless the field already has focus
  bool draggable = false;
  std::string_view placeholder = {};     // shown dim while the text is empty
  std::span<const TextMark> marks = {};  // in the order of the text
};

struct TextFieldResult {
  bool changed = false;
  bool focused = false;
  bool entered = false;             // Enter was pressed, where it does not break the line
  std::optional<std::size_t> mark;  // the mark under the mouse
  ImVec2 below_cursor;              // of a focused field: the lower end of the cursor, in pixels
};

// Draws the field as one ImGui item (hover, tooltips) and edits `text` in place while it has the focus.
TextFieldResult text_field(const WidgetContext& context, const char* id, std::string& text,
                           const TextFieldOptions& options = {});

}  // namespace headwise
