#include "app/training/training_text.h"

#include "app/widgets/axis_labels.h"
#include "app/widgets/text_layout.h"

namespace headwise {

std::vector<std::string> wrapped_lines(const std::string& text, ImFont* font, float width, std::size_t most) {
  const std::string broken = with_line_breaks(text, font, width);
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (lines.size() + 1 < most) {
    const std::size_t end = broken.find('\n', begin);
    if (end == std::string::npos) break;
    lines.push_back(broken.substr(begin, end - begin));
    begin = end + 1;
  }
  std::string rest = broken.substr(begin);
  for (char& c : rest)
    if (c == '\n') c = ' ';
  lines.push_back(fitted_text(rest, font, width));
  return lines;
}

float write_lines(const Painter& paint, ImFont* font, ImVec2 at, const Ink& ink,
                  const std::vector<std::string>& lines) {
  const float pitch = std::round(1.25f * font->FontSize), top = at.y;
  for (const std::string& line : lines) {
    paint.say(font, at, ink, line);
    at.y += pitch;
  }
  return at.y - top;
}

}  // namespace headwise
