#include "core/model/tokenizer/byte_pair_encoding.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/model/tokenizer/unicode_text.h"

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

TEST_CASE("NFC composes, orders marks, and knows where each byte came from") {
  const std::string text = "xe\u0301a\u0323\u0302\u1112\u1161\u11ab!";
  const AlignedText made = composed(AlignedText(text, 10));
  CHECK(made.text() == "x\u00e9\u1ead\ud55c!");
  CHECK(made.origin(0, 1) == ByteRange{10, 11});
  CHECK(made.origin(1, 3) == ByteRange{11, 14});
  CHECK(made.origin(made.text().size() - 1, made.text().size()) ==
        ByteRange{10 + static_cast<std::uint32_t>(text.size()) - 1,
                  10 + static_cast<std::uint32_t>(text.size())});
}

TEST_CASE("NFC leaves bytes alone that are not UTF-8") {
  CHECK(composed(AlignedText("a\xFF\xCC\u0301", 0)).text() == "a\xFF\xCC\u0301");
}

TEST_CASE("a text that is in NFC keeps a range for each byte") {
  const std::string text = "\u00e9\u4e2d";
  const AlignedText made = composed(AlignedText(text, 0));
  REQUIRE(made.text() == text);
  for (std::uint32_t at = 0; at < text.size(); ++at) CHECK(made.origin(at, at + 1) == ByteRange{at, at + 1});
}

TEST_CASE("a code point of damaged UTF-8 is one byte and no character") {
  for (const char* bytes : {"\x80", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    CHECK(code_point_at(bytes, 0).value == -1);
    CHECK(code_point_at(bytes, 0).bytes == 1);
  }
  CHECK(code_point_at("\u20ac", 0).value == 0x20AC);
}
