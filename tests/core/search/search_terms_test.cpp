// What remains of a text when it is searched, and which of its sentences is shown.
#include <doctest/doctest.h>

#include "core/search/search_index.h"
#include "core/search/search_terms.h"

using namespace headwise;

namespace {

std::string stems(std::string_view text) {
  std::string all;
  for (const SearchTerm& term : search_terms(text)) all += (all.empty() ? "" : " ") + term.stem;
  return all;
}

}  // namespace

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
