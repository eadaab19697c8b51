// Finding an entry of a list by a few of its letters: "nh" finds "Next head".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

struct FuzzyMatch {
  int score = 0;                    // larger is better; comparable between texts for the same query
  std::vector<std::size_t> places;  // matched bytes of the text, ascending
};

enum class FuzzyRule {
  subsequence,  // the letters in this order, anything between them
  words,  // each letter begins a word or follows the letter matched before it: for long texts, in which almost every short
          // query is a subsequence
};

// None if the letters do not occur so. ASCII letters match regardless of case; all other bytes are compared
// as they are. Word beginnings and runs of letters score higher than isolated letters. An empty query matches
// everything, with score 0. Time: query × text.
std::optional<FuzzyMatch> fuzzy_match(std::string_view query, std::string_view text,
                                      FuzzyRule rule = FuzzyRule::subsequence);

// Whether a word begins at this byte of the text.
bool word_begins(std::string_view text, std::size_t at);

// The words of a query, which are matched one by one, in any order in the text. Question and exclamation
// marks, commas and quotation marks around a word are dropped.
std::vector<std::string> query_words(std::string_view query);

// Drops the words that any English question may contain ("why", "is", "the" …). Keeps all if nothing else is
// left, or if there are fewer than three: then each may be the beginning of a name.
std::vector<std::string> content_words(const std::vector<std::string>& words);

}  // namespace headwise
