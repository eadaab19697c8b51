#include "app/widgets/text_layout.h"

#include <algorithm>
#include <utility>

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

TextLayouts& text_layouts() {
  static TextLayouts layouts;
  return layouts;
}

}  // namespace headwise
