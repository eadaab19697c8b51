#include "core/tensor/edit_distance.h"

#include <algorithm>

namespace headwise {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// As edit_distance, but letters in the wrong order are one mistake: "rnu".
std::size_t mistakes(const std::string& a, const std::string& b) {
  const std::size_t distance = edit_distance(a, b);
  return distance == 2 && a.size() == b.size() && std::ranges::is_permutation(a, b) ? 1 : distance;
}

// If a third of the letters are wrong, the text is rather a part of a name; if more than two fifths are, it
// is another word.
bool may_be_part(std::string_view text, std::size_t mistakes) {
  return 3 * mistakes > text.size();
}

bool is_another_word(std::string_view text, std::string_view name, std::size_t mistakes) {
  return 5 * mistakes > 2 * std::max(text.size(), name.size());
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
  const std::string word = lower_case(text.substr(0, 64));
  if (word.empty()) return "";
  const auto distance = [&](const std::string& name) { return mistakes(lower_case(name), word); };
  const auto nearest = std::ranges::min_element(names, {}, distance);
  if (nearest == names.end()) return "";
  if (may_be_part(word, distance(*nearest))) {
    const auto whole =
        std::ranges::find_if(names, [&](const std::string& name) { return is_part_of(word, name); });
    if (whole != names.end()) return *whole;
  }
  return is_another_word(word, *nearest, distance(*nearest)) ? std::string() : *nearest;
}

std::string suggestion(std::string_view name) {
  return name.empty() ? std::string() : "did you mean \"" + std::string(name) + "\"?";
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& names) {
  return suggestion(nearest_name(text, names));
}

}  // namespace headwise
