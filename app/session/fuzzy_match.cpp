#include "app/session/fuzzy_match.h"

#include <algorithm>
#include <array>

namespace headwise {
namespace {

// An isolated letter is worth 1.
constexpr int begins_word = 8;
constexpr int begins_text = 10;
constexpr int follows = 12;  // the letter matched before it
constexpr int none = -1;     // no match ends here; scores are positive

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool in_word(char c) {
  const char small = lower(c);
  return (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

bool word_begins(std::string_view text, std::size_t at) {
  return in_word(text[at]) && (at == 0 || !in_word(text[at - 1]));
}

std::optional<FuzzyMatch> fuzzy_match(std::string_view query, std::string_view text, FuzzyRule rule) {
  const std::size_t n = query.size(), m = text.size();
  if (n == 0) return FuzzyMatch{};
  if (n > m) return std::nullopt;
  // best[i·m + j]: best score over all ways to match query[0 … i] that end with text[j]; from: the place of
  // query[i−1] in it.
  std::vector<int> best(n * m, none);
  std::vector<std::size_t> from(n * m, 0);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t before = m;  // the best place for query[i−1] left of j−1; m: none
    for (std::size_t j = i; j < m; ++j) {
      const std::size_t here = i * m + j;
      const int* row_before = i > 0 ? &best[(i - 1) * m] : nullptr;
      if (row_before && j >= 2 && row_before[j - 2] != none &&
          (before == m || row_before[j - 2] > row_before[before])) {
        before = j - 2;
      }
      if (lower(query[i]) != lower(text[j])) continue;
      const bool starts = word_begins(text, j);
      const int alone = 1 + (j == 0 ? begins_text : starts ? begins_word : 0);
      const bool may_stand_alone = rule == FuzzyRule::subsequence || starts;
      if (i == 0) {
        if (may_stand_alone) best[here] = alone;
        continue;
      }
      if (may_stand_alone && before != m) {
        best[here] = row_before[before] + alone;
        from[here] = before;
      }
      if (row_before[j - 1] != none && row_before[j - 1] + alone + follows > best[here]) {
        best[here] = row_before[j - 1] + alone + follows;
        from[here] = j - 1;
      }
    }
  }
  const auto last_row = best.begin() + static_cast<std::ptrdiff_t>((n - 1) * m);
  const auto end = std::max_element(last_row, best.end());
  if (*end == none) return std::nullopt;
  FuzzyMatch match{*end, std::vector<std::size_t>(n)};
  std::size_t place = static_cast<std::size_t>(end - last_row);
  for (std::size_t i = n; i-- > 0;) {
    match.places[i] = place;
    place = from[i * m + place];
  }
  return match;
}

std::vector<std::string> query_words(std::string_view query) {
  constexpr std::string_view blanks = " \t\n\r", marks = "?!,;\"'";
  std::vector<std::string> words;
  for (std::size_t at = 0; at < query.size();) {
    const std::size_t begin = std::min(query.find_first_not_of(blanks, at), query.size());
    const std::size_t end = std::min(query.find_first_of(blanks, begin), query.size());
    std::string_view word = query.substr(begin, end - begin);
    // A mark by itself is searched for.
    const std::size_t first = word.find_first_not_of(marks), last = word.find_last_not_of(marks);
    if (first != std::string_view::npos) word = word.substr(first, last + 1 - first);
    if (!word.empty()) words.emplace_back(word);
    at = end;
  }
  return words;
}

std::vector<std::string> content_words(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 51> stop_words{
      "a",    "an",    "the",   "is",     "are",   "was",  "were",   "be",    "do",  "does", "did",
      "can",  "could", "why",   "how",    "what",  "when", "where",  "which", "who", "of",   "in",
      "on",   "at",    "to",    "by",     "for",   "with", "from",   "and",   "or",  "it",   "its",
      "that", "this",  "there", "then",   "if",    "i",    "my",     "we",    "you", "me",   "exactly",
      "as",   "has",   "have",  "should", "would", "will", "happens"};
  if (words.size() < 3) return words;
  std::vector<std::string> content;
  for (const std::string& word : words) {
    std::string small = word;
    std::ranges::transform(small, small.begin(), lower);
    if (std::ranges::find(stop_words, small) == stop_words.end()) content.push_back(word);
  }
  return content.empty() ? words : content;
}

}  // namespace headwise
