// The order of what a search finds, and when it claims to have an answer.
#include <doctest/doctest.h>

#include "core/lessons/search_index.h"
#include "core/lessons/search_terms.h"

using namespace headwise;

namespace {

const std::vector<SearchPage> searched_pages{
    {"Causal mask", "", "A mask that blocks every key after the query, so a token sees earlier tokens."},
    {"Padding", "", "Tokens that fill up a short sequence; a mask blocks them as keys."},
    {"Softmax", "which axis", "Each row becomes weights that sum to 1."},
    {"Dropout", "",
     "Sets weights to 0 in training; the sum of a row is then 1 only on average. Unlike the softmax it is "
     "random."},
    {"Mute head", "", "mute or unmute the selected head"},
};
const SearchIndex searched(searched_pages);

std::string first(std::string_view question) {
  const SearchFound found = searched.find(question, 10);
  return found.hits.empty() ? "" : searched_pages[found.hits.front().page].title;
}

std::string stems(std::string_view text) {
  std::string all;
  for (const SearchTerm& term : search_terms(text)) all += (all.empty() ? "" : " ") + term.stem;
  return all;
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
  std::vector<SearchPage> weighted = searched_pages;
  const double before = searched.find("padding", 1).hits.front().score;
  weighted[1].weight = 0.5;
  CHECK(SearchIndex(weighted).find("padding", 1).hits.front().score == doctest::Approx(0.5 * before));
}

TEST_CASE("the forms of a word have one stem, in British and in American spelling") {
  for (const char* form : {"split", "splits", "splitting", "Splits"}) CHECK(stems(form) == "split");
  CHECK(stems("normalize") == stems("normalised"));
  CHECK(stems("normalization") == stems("normalise"));
  CHECK(stems("color") == stems("colours"));
  CHECK(stems("size") == "size");
}

TEST_CASE("words of any question are left out, and a question of nothing else has no terms") {
  CHECK(stems("Why are the heads split?") == "head split");
  CHECK(stems("what is it that we do there, please?").empty());
  CHECK(stems("").empty());
  CHECK(stems(" ?! … \xff").empty());
}

TEST_CASE("identifiers are taken apart, those of a single letter are names") {
  CHECK(stems("in_proj_weight") == "proj weight");
  CHECK(stems("W_O") == stems("the output projection"));
  CHECK(stems("d_k") == stems("head width"));
  CHECK(stems("8x64") == "8 64");
  CHECK(stems("√") == stems("square root"));
  CHECK(stems("−∞") == stems("-inf"));
}

TEST_CASE("names of the same thing are one, the longest first") {
  CHECK(stems("qkv") == stems("queries, keys and values"));
  CHECK(stems("MHA") == stems("multi-head attention"));
  CHECK(stems("multihead") == stems("multi-head"));
  CHECK(stems("GQA") == stems("grouped query"));
  CHECK(stems("look-ahead mask") == stems("causal mask"));
  CHECK(stems("the heads don't") == stems("head"));
}

TEST_CASE("a term knows where its word is") {
  const std::string text = "Why √d_k, and not E?";
  const std::vector<SearchTerm> terms = search_terms(text);
  REQUIRE(terms.size() == 4);  // sqrt, head, width, e
  CHECK(text.substr(terms[0].begin, terms[0].end - terms[0].begin) == "√");
  CHECK(text.substr(terms[1].begin, terms[1].end - terms[1].begin) == "d_k");
}

TEST_CASE("the sentence with most of the words is shown, the first of equals") {
  const std::string text =
      "Heads look elsewhere. A mask hides keys. The causal mask hides later keys.\nKeys are rows";
  const auto shown = [&](std::vector<std::string> stems) { return search_passage(text, stems); };
  CHECK(shown({"mask"}) == "A mask hides keys.");
  CHECK(shown({"causal", "mask"}) == "The causal mask hides later keys.");
  CHECK(shown({"row"}) == "Keys are rows");
  CHECK(shown({"absent"}) == "Heads look elsewhere.");
  CHECK(search_passage("It gives … to it. It gives much.", std::vector<std::string>{"give"}) ==
        "It gives much.");
  // A sentence with a number left out looks broken, also where it alone has the word.
  CHECK(search_passage("It sums to …. Rows are long.", std::vector<std::string>{"sum"}) == "Rows are long.");
  CHECK(search_passage("It sums to ….", std::vector<std::string>{"sum"}).empty());
  CHECK(search_passage("", std::vector<std::string>{"mask"}).empty());
}

TEST_CASE("every other name can be met in a text, and stands for its name") {
  CHECK(same_names().size() > 200);
  for (const WordRow& row : same_names()) {
    CAPTURE(row.key);
    const std::vector<std::string_view> words = words_in(row.key);
    CHECK(words.size() <= longest_name);
    CHECK(row.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789 ") == row.key.npos);
    const SameName found = same_name(words);
    CHECK(found.words == words.size());
    CHECK(found.names == words_in(row.value));
  }
}

TEST_CASE("every word that has related ones can be asked for, and they can be met in a page") {
  CHECK(related_words().size() > 500);
  for (const WordRow& row : related_words()) {
    CAPTURE(row.key);
    CHECK(words_in(row.key).size() == 1);
    CHECK_FALSE(stems(row.key).empty());
    for (const std::string_view word : words_in(row.value)) CHECK_FALSE(stems(word).empty());
  }
}
