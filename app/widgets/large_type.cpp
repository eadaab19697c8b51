#include "app/widgets/large_type.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/measure.h"
#include "app/widgets/text_edit.h"
#include "app/widgets/text_layout.h"

namespace headwise {
namespace {

// From the smallest; the larger ones have fewer characters.
std::array<ImFont*, 5> faces(const Fonts& fonts, bool bold) {
  if (bold) return {fonts.bold, fonts.bold, fonts.title, fonts.title, fonts.display_bold};
  return {fonts.small, fonts.sans, fonts.caption, fonts.formula, fonts.display};
}

}  // namespace

bool has_characters(const ImFont& font, std::string_view text) {
  for (std::size_t at = 0; at < text.size(); at = next_character(text, at)) {
    const char32_t character = code_point(text, at);
    const bool silent = character < 0x20 || character == 0x200D || (character >= 0xFE00 && character <= 0xFE0F);
    if (silent) continue;
    if (character > IM_UNICODE_CODEPOINT_MAX || !font.FindGlyphNoFallback(static_cast<ImWchar>(character)))
      return false;
  }
  return true;
}

Type type_at(const Fonts& fonts, float scale, float units, std::string_view text, bool bold) {
  const float wanted = std::max(6.0f, std::round(units * scale));
  Type best;
  for (ImFont* font : faces(fonts, bold)) {
    if (!has_characters(*font, text)) continue;
    best = {font, std::min(wanted, font->FontSize)};
    if (font->FontSize >= wanted) return best;
  }
  if (best.font) return best;
  ImFont* usual = bold ? fonts.bold : fonts.sans;
  need_characters(text, *usual);
  return {usual, std::min(wanted, usual->FontSize)};
}

float width_in(const Type& type, std::string_view text) {
  return width_of(type.font, text, type.size);
}

std::string lines_in(const Type& type, float wrap, std::string_view text) {
  // Measured as if the font had its own size.
  const bool own = type.size == type.font->FontSize;
  return with_line_breaks(text, type.font, own ? wrap : wrap * type.font->FontSize / type.size);
}

ImVec2 size_in(const Type& type, float wrap, const std::string& text) {
  if (text.empty()) return {0, 0};
  return type.font->CalcTextSizeA(type.size, FLT_MAX, wrap, lines_in(type, wrap, text).c_str());
}

float widest_word(const Type& type, std::string_view text) {
  float widest = 0.0f;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    widest = std::max(widest, width_in(type, text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

void draw_text_in(ImDrawList* list, const Type& type, ImVec2 at, ImU32 ink, float wrap,
                  const std::string& text) {
  list->AddText(type.font, type.size, at, ink, lines_in(type, wrap, text).c_str(), nullptr, wrap);
}

Type label_type(const Fonts& fonts, float scale, float pitch, const std::vector<std::string>& labels) {
  constexpr std::array<float, 3> sizes{24, 18, 15};
  constexpr std::size_t most_looked_at = 256;
  for (const float units : sizes) {
    if (units * scale * 1.25f > pitch) continue;
    const Type type = type_at(fonts, scale, units, "");
    const auto end = labels.begin() + static_cast<std::ptrdiff_t>(std::min(labels.size(), most_looked_at));
    if (std::all_of(labels.begin(), end,
                    [&](const std::string& label) { return has_characters(*type.font, axis_word(label)); }))
      return type;
  }
  return Type(pitch >= 17.0f * scale ? fonts.sans : fonts.small);
}

}  // namespace headwise
