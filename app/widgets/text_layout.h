// Type at sizes between those of the fonts, where the lines of a text break, and what is left out of a
// sentence in less room than it needs.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <imgui.h>

#include "app/platform/fonts.h"
#include "app/widgets/text_edit.h"

namespace headwise {

// Width of a character as a field shows it, in pixels; 0 for a line break.
float shown_advance(const ImFont& font, char32_t character);

// Cached until the text, the font or the width changes: a text of 100,000 characters is not rewrapped in
// every frame.
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

// A sentence whose last clauses are left out whole, so that no word is cut: the longest prefix that ends at a
// clause boundary and is at most `width` pixels wide: "when are the heads split? here, after the projection,
// and no number changes" → "when are the heads split?". A question stays one: "how alike are they, in this
// head's columns?" → "how alike are they?". Empty if not even the first clause fits.
std::string fitted_clauses(const std::string& text, const ImFont* font, float width);

// A font, drawn at a size of pixels that may not be its own.
struct Type {
  ImFont* font = nullptr;
  float size = 0.0f;
  Type() = default;
  Type(ImFont* own) : font(own), size(own->FontSize) {}  // in its own size
  Type(ImFont* face, float pixels) : font(face), size(pixels) {}
};

inline Type own_size(ImFont* font) {
  return font;
}

// Whether the font has all of these characters; those that are never drawn do not count.
bool has_characters(const ImFont& font, std::string_view text);

// The type for this text that is `units` design units high, or as high as the fonts allow that have its
// characters: none is enlarged. What none has is named (app/platform/fonts.h), in the usual size.
Type type_at(const Fonts& fonts, float scale, float units, std::string_view text, bool bold = false);

// In pixels: of one line, and of a text that wraps at `wrap`, whose lines with_line_breaks gives.
float width_in(const Type& type, std::string_view text);
ImVec2 size_in(const Type& type, float wrap, const std::string& text);
// The text's widest word: in a column that is narrower it would be broken.
float widest_word(const Type& type, std::string_view text);

// The text with the breaks that size_in counts.
std::string lines_in(const Type& type, float wrap, std::string_view text);
void draw_text_in(ImDrawList* list, const Type& type, ImVec2 at, ImU32 ink, float wrap,
                  const std::string& text);

// The largest type for the labels of lines `pitch` pixels apart, one for all of them.
Type label_type(const Fonts& fonts, float scale, float pitch, const std::vector<std::string>& labels);

}  // namespace headwise
