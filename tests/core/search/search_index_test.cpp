// The order of what a search finds, and when it claims to have an answer.
#include <doctest/doctest.h>

#include "core/search/search_index.h"

using namespace headwise;

namespace {

const std::vector<SearchPage> pages{
    {"Causal mask", "", "A mask that blocks every key after the query, so a token sees earlier tokens."},
    {"Padding", "", "Tokens that fill up a short sequence; a mask blocks them as keys."},
    {"Softmax", "which axis", "Each row becomes weights that sum to 1."},
    {"Dropout", "",
     "Sets weights to 0 in training; the sum of a row is then 1 only on average. Unlike the softmax it is "
     "random."},
    {"Mute head", "", "mute or unmute the selected head"},
};
const SearchIndex searched(pages);

std::string first(std::string_view question) {
  const SearchFound found = searched.find(question, 10);
  return found.hits.empty() ? "" : pages[found.hits.front().page].title;
}

}  // namespace

TEST_CASE(
    "a title counts more than a question, a question more than a text, a rare word more than a common one") {
  CHECK(first("softmax") == "Softmax");
  CHECK(first("which axis of the row") == "Softmax");
  CHECK(first("mask for padding") == "Padding");
  CHECK(first("masks of causal models") == "Causal mask");
  CHECK(first("random weights") == "Dropout");
}

TEST_CASE("hits are ordered by their scores, at most as many as wanted, and share what is asked") {
  const SearchFound found = searched.find("mask tokens", 10);
  REQUIRE(found.hits.size() == 2);
  CHECK(found.hits[0].score >= found.hits[1].score);
  CHECK(found.hits[0].share == doctest::Approx(1.0));
  CHECK(searched.find("mask tokens", 1).hits.size() == 1);
  CHECK(searched.find("mask tokens", 1).answers);
}

TEST_CASE("a word that belongs to one of the question finds a page, behind the word itself") {
  CHECK(first("ablate") == "Mute head");
  CHECK(first("look-ahead") == "Causal mask");
  CHECK(searched.find("ablate", 1).hits.front().share < 1.0);
}

TEST_CASE("a misspelt word and the beginning of the last one find what is meant") {
  CHECK(first("sofmax") == "Softmax");
  CHECK(first("droput rows") == "Dropout");
  CHECK(first("pad") == "Padding");
  CHECK(first("soft") == "Softmax");
  CHECK(first("soft ").empty());  // a finished word
}

TEST_CASE("words that stand together in the question count more where they stand together in the page") {
  const std::vector<SearchPage> apart{{"One", "", "A window slides over tokens, and a cache keeps rows."},
                                      {"Two", "", "A cache slides over tokens, and a window keeps rows."},
                                      {"Three", "", "A fish swims."}};
  const SearchIndex index(apart);
  CHECK(index.find("cache keeps", 1).hits.front().page == 0);
  CHECK(index.find("window keeps", 1).hits.front().page == 1);
}

TEST_CASE("a lone word claims an answer only where the page is named by it") {
  CHECK(searched.find("dropout", 1).answers);
  CHECK_FALSE(searched.find("axis", 1).hits.empty());
  CHECK_FALSE(searched.find("axis", 1).answers);
}

TEST_CASE("what the pages do not say is not answered: the nearest page is not claimed to be an answer") {
  for (const char* question : {"how do I mask the smell of garlic and onions", "rows of seats in a cinema",
                               "who invented the key of the piano"}) {
    CAPTURE(question);
    CHECK_FALSE(searched.find(question, 10).answers);
  }
  CHECK_FALSE(searched.find("mask the smell of garlic and onions", 10).hits.empty());
  CHECK(searched.find("what blocks the keys of padding", 10).answers);
}

TEST_CASE("nothing is found for nothing") {
  for (const char* question : {"", " ", "why is it so?", "zzyzx"}) {
    CAPTURE(question);
    const SearchFound found = searched.find(question, 10);
    CHECK(found.hits.empty());
    CHECK_FALSE(found.answers);
  }
  CHECK(SearchIndex(std::vector<SearchPage>{}).find("mask", 10).hits.empty());
}

TEST_CASE("of a question of any length the beginning is searched for") {
  std::string endless = "softmax ";
  while (endless.size() < 1'000'000) endless += "zzyzx ";
  CHECK(first(endless) == "Softmax");
}

TEST_CASE("a page's weight multiplies its scores") {
  std::vector<SearchPage> weighted = pages;
  const double before = searched.find("padding", 1).hits.front().score;
  weighted[1].weight = 0.5;
  CHECK(SearchIndex(weighted).find("padding", 1).hits.front().score == doctest::Approx(0.5 * before));
}
