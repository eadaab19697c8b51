// Type at sizes between those of the fonts, for a hall: the fonts with few letters are the largest.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/platform/fonts.h"

namespace headwise {

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
