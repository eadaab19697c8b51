#include "core/search/synonyms.h"

#include <algorithm>
#include <map>

namespace headwise {
namespace embedded {

std::span<const unsigned char> words_related();
std::span<const unsigned char> words_same_names();

}  // namespace embedded
namespace {

struct Same {
  std::vector<std::string_view> said, names;
};

const std::map<std::string_view, std::vector<Same>>& names_by_first_word() {
  static const auto by_first = [] {
    std::map<std::string_view, std::vector<Same>> names;
    for (const WordRow& row : same_names())
      names[words_in(row.key).front()].push_back({words_in(row.key), words_in(row.value)});
    return names;
  }();
  return by_first;
}

}  // namespace

SameName same_name(std::span<const std::string_view> words) {
  SameName found;
  if (words.empty()) return found;
  const auto candidates = names_by_first_word().find(words.front());
  if (candidates == names_by_first_word().end()) return found;
  for (const Same& same : candidates->second) {
    const std::size_t count = same.said.size();
    if (count > found.words && count <= words.size() && std::ranges::equal(same.said, words.first(count)))
      found = {count, same.names};
  }
  return found;
}

std::vector<WordRow> same_names() {
  return word_rows(embedded::words_same_names(), "same_names.txt");
}

std::vector<WordRow> related_words() {
  return word_rows(embedded::words_related(), "related_words.txt");
}

}  // namespace headwise
