#include "core/tensor/edit_distance.h"

#include <algorithm>

namespace headwise {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

namespace {

// If a third of the letters are wrong, it is another word rather than a typo.
bool is_another_word(std::string_view text, std::string_view name) {
  return 3 * edit_distance(name, text) > text.size();
}

// Whether the text is one of the parts of `name` between underscores.
bool is_part_of(std::string_view text, std::string_view name) {
  for (std::size_t at = name.find(text); at != std::string_view::npos; at = name.find(text, at + 1)) {
    const bool begins = at == 0 || name[at - 1] == '_';
    const std::size_t end = at + text.size();
    if (begins && (end == name.size() || name[end] == '_')) return true;
  }
  return false;
}

}  // namespace

std::string nearest_name(std::string_view text, const std::vector<std::string>& names) {
  text = text.substr(0, 64);
  const auto nearest =
      std::ranges::min_element(names, {}, [&](const std::string& name) { return edit_distance(name, text); });
  if (nearest != names.end() && !text.empty() && is_another_word(text, *nearest)) {
    const auto whole =
        std::ranges::find_if(names, [&](const std::string& name) { return is_part_of(text, name); });
    if (whole != names.end()) return *whole;
  }
  return nearest == names.end() ? std::string() : *nearest;
}

}  // namespace headwise
