// Where the lines of a text break, cached until the text, the font or the width changes: a text of 100,000
// characters is not rewrapped in every frame.
#pragma once

#include <imgui.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "app/widgets/text_edit.h"

namespace headwise {

// Width of a character as a field shows it, in pixels; 0 for a line break.
float shown_advance(const ImFont& font, char32_t character);

class TextLayouts {
 public:
  // wrap_lines of this text. The reference is valid until the next call.
  const std::vector<TextLine>& of(const std::string& text, const ImFont& font, float width);
  // How often lines had to be wrapped.
  long made() const { return made_; }

 private:
  struct Kept {
    std::string text;
    const ImFont* font;
    const ImFontGlyph* glyphs;  // another atlas may put another font in the same place
    float font_size, width;
    std::vector<TextLine> lines;
  };
  std::deque<Kept> kept_;  // most recently used first
  long made_ = 0;
};

// With a line break instead of each blank at which a line of `width` pixels ends. ImGui's own wrapping also
// breaks after commas and points, and so splits numbers such as 1,152 and 0.98. A word wider than a line is
// left to ImGui. The result will be drawn:
// characters that the font lacks are requested (app/platform/fonts.h).
std::string with_line_breaks(std::string_view text, const ImFont* font, float width);

// The layouts of all fields of the window.
TextLayouts& text_layouts();

}  // namespace headwise
