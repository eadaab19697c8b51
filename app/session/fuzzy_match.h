// Finding an entry of a list by a few of its letters: "nh" finds "Next head".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

struct FuzzyMatch {
  int score = 0;                    // larger is better; comparable between texts for the same query
  std::vector<std::size_t> places;  // bytes of the text that were matched, rising
};

enum class FuzzyRule {
  subsequence,  // the letters in this order, anything between them
  words,        // each letter begins a word or follows the letter matched before it: for long texts, in which
                // almost every short query is a subsequence
};

// None where the text has no such letters. Capitals and small letters of ASCII are the same; all other bytes
// are compared as they are. Beginnings of words and runs of letters score higher than letters by themselves. An
// empty query matches everything, with score 0. Time: query × text.
std::optional<FuzzyMatch> fuzzy_match(std::string_view query, std::string_view text,
                                      FuzzyRule rule = FuzzyRule::subsequence);

// Whether a word of the text begins at this byte.
bool word_begins(std::string_view text, std::size_t at);

// The words of a query, which are matched one by one, in whatever order they stand in the text. Question and
// exclamation marks, commas and quotation marks around a word are left out.
std::vector<std::string> query_words(std::string_view query);

// Without the words that a question has in English whatever it is about ("why", "is", "the" …). All of them where nothing
// else is left, or where there are fewer than three: then each may be the beginning of a name.
std::vector<std::string> telling_words(const std::vector<std::string>& words);

}  // namespace headwise
