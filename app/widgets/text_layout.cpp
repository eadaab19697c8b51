#include "app/widgets/text_layout.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>

#include "app/widgets/axis_labels.h"
#include "app/widgets/painter.h"

namespace headwise {
namespace {

constexpr std::size_t most_kept = 4;  // a window has two such fields: text and key text

// From the smallest; the larger ones have fewer characters.
std::array<ImFont*, 5> faces(const Fonts& fonts, bool bold) {
  if (bold) return {fonts.bold, fonts.bold, fonts.title, fonts.title, fonts.display_bold};
  return {fonts.small, fonts.sans, fonts.caption, fonts.formula, fonts.display};
}

}  // namespace

float shown_advance(const ImFont& font, char32_t character) {
  if (character == U'\n') return 0.0f;
  if (character < 0x20) character = U' ';
  return font.GetCharAdvance(character > 0xFFFF ? ImWchar{0xFFFD} : static_cast<ImWchar>(character));
}

const std::vector<TextLine>& TextLayouts::of(const std::string& text, const ImFont& font, float width) {
  const auto found = std::ranges::find_if(kept_, [&](const Kept& kept) {
    return kept.font == &font && kept.glyphs == font.Glyphs.Data && kept.font_size == font.FontSize &&
           kept.width == width && kept.text == text;
  });
  if (found != kept_.end()) {
    if (found != kept_.begin()) std::rotate(kept_.begin(), found, std::next(found));
    return kept_.front().lines;
  }
  ++made_;
  kept_.push_front(
      {text, &font, font.Glyphs.Data, font.FontSize, width,
       wrap_lines(text, width, [&](char32_t character) { return shown_advance(font, character); })});
  if (kept_.size() > most_kept) kept_.pop_back();
  return kept_.front().lines;
}

std::string with_line_breaks(std::string_view text, const ImFont* font, float width) {
  need_characters(text, *font);
  std::string lines(text);
  const auto width_of = [&](std::size_t from, std::size_t to) {
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, lines.c_str() + from, lines.c_str() + to).x;
  };
  std::size_t line = 0, blank = std::string::npos;  // where the line begins, and its last blank
  for (std::size_t at = 0; at <= lines.size(); ++at) {
    const bool ends = at == lines.size() || lines[at] == '\n';
    if (!ends && lines[at] != ' ') continue;
    if (blank != std::string::npos && width_of(line, at) >= width) {
      lines[blank] = '\n';
      line = blank + 1;
      blank = std::string::npos;
    }
    if (ends) {
      line = at + 1;
      blank = std::string::npos;
    } else {
      blank = at;
    }
  }
  return lines;
}

TextLayouts& text_layouts() {
  static TextLayouts layouts;
  return layouts;
}

std::string fitted_clauses(const std::string& text, const ImFont* font, float width) {
  const auto fits = [&](const std::string& part) { return width_of(font, part) <= width; };
  if (fits(text)) return text;
  for (std::size_t at = text.size(); at-- > 1;) {
    if (at + 1 >= text.size() || text[at + 1] != ' ') continue;
    if (text[at] == '?') {
      if (std::string part = text.substr(0, at + 1); fits(part)) return part;
      continue;
    }
    const bool comma = text[at] == ',';
    if (!comma && text[at] != ':' && text[at] != ';') continue;
    // A comma before an "and" is part of a list, and half a list means something else.
    const std::size_t next_mark = text.find_first_of("?:;", at + 1);
    if (comma && text.substr(at, next_mark - at).find(" and ") != std::string::npos) continue;
    std::string part = text.substr(0, at);
    if (comma && next_mark != std::string::npos && text[next_mark] == '?') part += '?';
    if (fits(part)) return part;
  }
  return "";
}

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
