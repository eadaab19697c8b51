#include <doctest/doctest.h>

#include "core/model/tokenizer/unicode_text.h"
#include "tests/core/model/tokenizer/tokenizer_texts.h"

using namespace headwise;

namespace {

// With a U+FFFD for each row of bytes that are no characters: programs differ in how many they put there.
std::string with_replacements(std::string_view bytes) {
  constexpr std::int32_t replacement_character = 0xFFFD;
  std::string text;
  std::int32_t last = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint point = code_point_at(bytes, at);
    const std::int32_t value = point.value < 0 ? replacement_character : point.value;
    if (value != replacement_character || last != replacement_character) append_code_point(text, value);
    last = value;
    at += point.bytes;
  }
  return text;
}

}  // namespace

TEST_CASE("every tokenizer makes the ids that Hugging Face's tokenizers makes") {
  for (const char* name : golden_tokenizers) {
    CAPTURE(name);
    const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path(name));
    const std::vector<TokenizerCase> cases = tokenizer_cases(name);
    CHECK(cases.size() > 300);
    for (const TokenizerCase& expected : cases) {
      CAPTURE(expected.text);
      CHECK(ids_of(tokenizer.encode(expected.text)) == expected.ids);
    }
  }
}

TEST_CASE("WordPiece and WordLevel say which bytes of the text each token stands for") {
  for (const char* name : golden_tokenizers) {
    CAPTURE(name);
    const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path(name));
    if (tokenizer.kind().ends_with("BPE")) continue;
    for (const TokenizerCase& expected : tokenizer_cases(name)) {
      CAPTURE(expected.text);
      const std::vector<EncodedToken> tokens = tokenizer.encode(expected.text);
      REQUIRE(tokens.size() == expected.ranges.size());
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        CAPTURE(i);
        const auto [begin, end] = expected.ranges[i];
        CHECK(tokens[i].end - tokens[i].begin == end - begin);
        if (begin < end) CHECK(tokens[i].begin == begin);
      }
    }
  }
}

TEST_CASE("the ids are decoded to the text that Hugging Face's tokenizers makes of them") {
  for (const char* name : golden_tokenizers) {
    CAPTURE(name);
    const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path(name));
    for (const TokenizerCase& expected : tokenizer_cases(name)) {
      CAPTURE(expected.text);
      CHECK(with_replacements(tokenizer.decode(expected.ids)) == with_replacements(expected.decoded));
    }
  }
}

TEST_CASE("the tokens of byte-level BPE tile the text, and each is decoded to its bytes") {
  for (const char* name : {"gpt2_merges", "llama3_json"}) {
    CAPTURE(name);
    const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path(name));
    for (const TokenizerCase& expected : tokenizer_cases(name)) {
      CAPTURE(expected.text);
      std::size_t done = 0;
      for (const EncodedToken& token : tokenizer.encode(expected.text, SpecialTokens::leave_out)) {
        CHECK(token.begin == done);
        done = token.end;
        const TokenId id = token.id;
        CHECK(tokenizer.decode({&id, 1}, SpecialTokens::add) ==
              expected.text.substr(token.begin, token.end - token.begin));
      }
      CHECK(done == expected.text.size());
    }
  }
}
