#include "app/widgets/painter.h"

#include "app/widgets/axis_labels.h"
#include "app/widgets/ui_probe.h"

namespace headwise {

Box Painter::text(const Type& type, ImVec2 at, const Ink& ink, std::string_view words, Align align) const {
  const float width = width_in(type, words);
  if (align != Align::left) at.x -= align == Align::middle ? 0.5f * width : width;
  if (!words.empty())
    list->AddText(type.font, type.size, at, ink.value, words.data(), words.data() + words.size());
  return {at, {at.x + width, at.y + type.size}};
}

Box Painter::say(const Type& type, ImVec2 at, const Ink& ink, std::string_view words, Align align) const {
  const Box box = text(type, at, ink, words, align);
  ui_text_probe(words, {std::floor(box.min.x), std::floor(box.min.y)});
  return box;
}

Box Painter::text_within(float room, const Type& type, ImVec2 at, const Ink& ink,
                         const std::string& words) const {
  return text(type, at, ink, fitted_text(words, type.font, room * type.font->FontSize / type.size));
}

Box Painter::wrapped(float wrap, const Type& type, ImVec2 at, const Ink& ink, std::string_view words) const {
  const std::string lines = lines_in(type, wrap, words);
  list->AddText(type.font, type.size, at, ink.value, lines.c_str(), nullptr, wrap);
  const ImVec2 size = type.font->CalcTextSizeA(type.size, FLT_MAX, wrap, lines.c_str());
  return {at, {at.x + size.x, at.y + size.y}};
}

}  // namespace headwise
