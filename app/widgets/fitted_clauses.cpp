#include "app/widgets/fitted_clauses.h"

#include <imgui.h>

#include "app/widgets/measure.h"

namespace headwise {

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

}  // namespace headwise
