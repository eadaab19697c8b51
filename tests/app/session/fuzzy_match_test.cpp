#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "app/session/fuzzy_match.h"

using namespace headwise;

namespace {

// The text with the matched letters as capitals, all others small: "Next Head" for "nh".
std::string marked(std::string_view query, std::string_view text, FuzzyRule rule = FuzzyRule::subsequence) {
  const auto match = fuzzy_match(query, text, rule);
  if (!match) return "-";
  std::string shown(text);
  for (char& c : shown) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const std::size_t place : match->places)
    if (shown[place] >= 'a' && shown[place] <= 'z') shown[place] = static_cast<char>(shown[place] - 32);
  return shown;
}

int score(std::string_view query, std::string_view text) {
  const auto match = fuzzy_match(query, text);
  REQUIRE(match.has_value());
  return match->score;
}

}  // namespace

TEST_CASE("letters are found in their order, whatever lies between them") {
  CHECK(marked("nh", "Next head") == "Next Head");
  CHECK(marked("NXD", "next head") == "NeXt heaD");
  CHECK(marked("softmax", "Go to Softmax") == "go to SOFTMAX");
  CHECK(marked("hn", "Next head") == "-");
  CHECK(marked("next heads", "Next head") == "-");
  CHECK(marked("", "Next head") == "next head");
  CHECK(marked("a", "") == "-");
}

TEST_CASE("of several ways to match, beginnings of words and runs of letters are taken") {
  CHECK(marked("head", "the best of the heads: head") == "the best of the HEADs: head");
  CHECK(marked("st", "last step") == "last STep");
  CHECK(marked("lt", "normal or larger text") == "normal or Larger Text");
  CHECK(score("mask", "Causal mask") > score("mask", "Make a quick sketch"));
  CHECK(score("play", "Play") > score("play", "Re-play"));
  CHECK(score("sh", "Solo head") > score("sh", "push"));
}

TEST_CASE("by words, a letter inside a word counts only behind the one before it") {
  CHECK(marked("cell", "copy the number of the cell", FuzzyRule::words) == "copy the number of the CELL");
  CHECK(marked("ctn", "copy the number", FuzzyRule::words) == "Copy The Number");
  CHECK(marked("umber", "copy the number", FuzzyRule::words) == "-");
  CHECK(marked("cpy", "copy the number", FuzzyRule::words) == "-");
  CHECK(marked("zzz", "copy the number", FuzzyRule::words) == "-");
}

TEST_CASE("a query of any length and of any bytes is answered") {
  CHECK_FALSE(fuzzy_match(std::string(100'000, 'a'), "a").has_value());
  CHECK(fuzzy_match("ₕ", "Qₕ Kₕᵀ").has_value());
  CHECK_FALSE(fuzzy_match("\xff\xfe", "Qₕ Kₕᵀ").has_value());
  CHECK(query_words("  go\tto \n softmax ") == std::vector<std::string>{"go", "to", "softmax"});
  CHECK(query_words(" \t").empty());
  CHECK(query_words("why, \"softmax\"?") == std::vector<std::string>{"why", "softmax"});
  CHECK(query_words("?") == std::vector<std::string>{"?"});
}

TEST_CASE("of a question, the words that every question has are left out") {
  using Words = std::vector<std::string>;
  CHECK(content_words({"When", "are", "the", "heads", "cut"}) == Words{"heads", "cut"});
  CHECK(content_words({"is", "it", "the"}) == Words{"is", "it", "the"});
  CHECK(content_words({"the", "mask"}) == Words{"the", "mask"});
}
