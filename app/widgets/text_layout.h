// Where the lines of a text break, kept until the text, the font or the width is another: a text of 100,000 characters is
// not broken anew in every frame.
#pragma once

#include <imgui.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "app/widgets/text_edit.h"

namespace headwise {

// Of a character as a field shows it, in pixels; a line break has none.
float shown_advance(const ImFont& font, char32_t character);

class TextLayouts {
 public:
  // wrap_lines of this text. The reference is good until the next call.
  const std::vector<TextLine>& of(const std::string& text, const ImFont& font, float width);
  // How often lines had to be broken.
  long made() const { return made_; }

 private:
  struct Kept {
    std::string text;
    const ImFont* font;
    const ImFontGlyph* glyphs;  // another atlas may put another font in the same place
    float font_size, width;
    std::vector<TextLine> lines;
  };
  std::deque<Kept> kept_;  // the last used first
  long made_ = 0;
};

// With a line break in the place of each blank at which a line of `width` pixels ends. ImGui's own wrapping breaks behind
// commas and points too, and so numbers, 1,152 and 0.98, in two. A word that is wider than a line is left to it. What is laid out is
// drawn: characters that the font lacks are asked for (app/platform/needed_characters.h).
std::string with_line_breaks(std::string_view text, const ImFont* font, float width);

// Those of all fields of the window.
TextLayouts& text_layouts();

}  // namespace headwise
