// A word in a chip, with a list of words that unfolds below it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/widgets/painter.h"

namespace headwise {

struct DropDownGroup {
  std::string caption;             // above its words; empty: none
  std::vector<std::string> words;  // no two of a list are the same
};

// Of the one list that is open.
struct DropDownState {
  std::string filter;      // as typed: only words that contain it are listed
  std::size_t lit = 0;     // of the words listed: what Enter takes
  bool scroll_to = false;  // to the lit word, in the next frame
};

struct DropDownResult {
  std::optional<std::string> chosen;
  bool stepped = false;  // with the arrow keys on the closed list: the next press goes on from here
};

// Width and height of the chip, in pixels.
ImVec2 drop_down_size(const WidgetContext& context, const std::string& word);

// Draws the chip as one ImGui item. A click, Enter or Space opens the list, in which the arrows, Page Up,
// Page Down, Home and End move, Enter and a click choose, letters filter and Escape closes. On the closed
// list the arrows, Home and End choose at once. Reports its rectangles as `id`,
// and those of the listed words as "id/word".
DropDownResult drop_down(const WidgetContext& context, const char* id, const std::string& word,
                         std::span<const DropDownGroup> groups, DropDownState& state);

}  // namespace headwise
