#include "core/model/tokenizer/byte_pair_encoding.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace headwise;

namespace {

using Words = std::vector<std::string>;

Words words(SplitPattern pattern, std::string_view text) {
  Words made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = split_word_end(pattern, text, at);
    REQUIRE(end > at);
    made.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return made;
}

}  // namespace

TEST_CASE("GPT-2 parts contractions, letters, numbers and signs, with the space before them") {
  CHECK(words(SplitPattern::gpt2, "I'll see 12 cats, don't I?") ==
        Words{"I", "'ll", " see", " 12", " cats", ",", " don", "'t", " I", "?"});
  CHECK(words(SplitPattern::gpt2, "I'LL") == Words{"I", "'", "LL"});
}

TEST_CASE("of a run of white space the last space belongs to the word behind it") {
  CHECK(words(SplitPattern::gpt2, "a   b\n\n c  ") == Words{"a", "  ", " b", "\n\n", " c", "  "});
  CHECK(words(SplitPattern::gpt2, "\tb") == Words{"\t", "b"});
}

TEST_CASE("Llama 3 keeps line ends together, three digits a word, and contractions in capitals") {
  CHECK(words(SplitPattern::llama3, "We'LL 1234567.\n\n  x\n") ==
        Words{"We", "'LL", " ", "123", "456", "7", ".\n\n", " ", " x", "\n"});
  CHECK(words(SplitPattern::llama3, "a'\u017Fabc'Sx") == Words{"a", "'\u017F", "abc", "'S", "x"});
  CHECK(words(SplitPattern::llama3, "(text)\t\ttab") == Words{"(text", ")", "\t", "\ttab"});
}

TEST_CASE("Qwen2 has a digit a word") {
  CHECK(words(SplitPattern::qwen2, "a 123") == Words{"a", " ", "1", "2", "3"});
}

TEST_CASE("BLOOM has a word of all that is no sign of its list, and what is between words in one piece") {
  CHECK(words(SplitPattern::bloom, "I'll see 12%, don't  (x).") ==
        Words{"I'll", " see", " 12%", ",", " don't", "  (", "x", ")."});
  CHECK(words(SplitPattern::bloom, ". a\n b |") == Words{".", " a", "\n", " b", " |"});
}

TEST_CASE("digits are parted from what is between them") {
  CHECK(words(SplitPattern::digits, "a b12 c") == Words{"a b", "1", "2", " c"});
}

TEST_CASE("only the regular expressions of known models are taken") {
  CHECK(known_split_pattern(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)") ==
        SplitPattern::gpt2);
  CHECK_FALSE(known_split_pattern(R"(\s+)").has_value());
  CHECK_FALSE(known_split_pattern("").has_value());
}
