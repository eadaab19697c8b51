#include "core/search/search_passage.h"

#include <algorithm>
#include <set>

#include "core/search/search_terms.h"

namespace headwise {
namespace {

constexpr std::string_view hole = "…";  // for a number that is not known here

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Where the first sentence ends: after . ? or ! before a blank, or at a line break.
std::size_t sentence_end(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') return i;
    const bool ends = text[i] == '.' || text[i] == '?' || text[i] == '!';
    if (ends && i + 1 < text.size() && text[i + 1] == ' ' && i > 1 && text[i - 1] != '.') return i + 1;
  }
  return text.size();
}

}  // namespace

std::string search_passage(std::string_view text, std::span<const std::string> stems) {
  const std::set<std::string_view> wanted(stems.begin(), stems.end());
  std::string_view best;
  int most = -1;
  while (!text.empty()) {
    const std::size_t end = sentence_end(text);
    const std::string_view sentence = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    // With its numbers left out a sentence looks broken: "it sums to ….".
    if (sentence.empty() || sentence.find(hole) != std::string_view::npos) continue;
    std::set<std::string> having;
    for (const SearchTerm& term : search_terms(sentence))
      if (wanted.contains(term.stem)) having.insert(term.stem);
    const int worth = static_cast<int>(having.size());
    if (worth > most) best = sentence, most = worth;
  }
  return std::string(best);
}

}  // namespace headwise
