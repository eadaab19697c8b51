#include "app/widgets/text_layout.h"

#include <algorithm>
#include <cfloat>
#include <utility>

#include "app/platform/fonts.h"

namespace headwise {
namespace {

constexpr std::size_t most_kept = 4;  // a window has two such fields: text and key text

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

}  // namespace headwise
