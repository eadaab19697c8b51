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

std::string nearest_name(std::string_view text, const std::vector<std::string>& names) {
  text = text.substr(0, 64);
  const auto nearest =
      std::ranges::min_element(names, {}, [&](const std::string& name) { return edit_distance(name, text); });
  return nearest == names.end() ? std::string() : *nearest;
}

}  // namespace headwise
