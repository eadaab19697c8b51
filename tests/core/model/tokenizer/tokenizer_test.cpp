#include <doctest/doctest.h>

#include <algorithm>

#include "core/model/tokenizer/unicode_text.h"
#include "core/tensor/error.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/model/tokenizer/tokenizer_texts.h"

using namespace headwise;

namespace {

std::vector<std::string> pieces_of(const std::vector<EncodedToken>& tokens) {
  std::vector<std::string> pieces;
  for (const EncodedToken& token : tokens) pieces.push_back(token.piece);
  return pieces;
}

using Pieces = std::vector<std::string>;

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

TEST_CASE("special and unknown tokens say that they are") {
  const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path("bert_uncased_vocab"));
  const std::vector<EncodedToken> tokens = tokenizer.encode("the [MASK] \u20ac");
  CHECK(pieces_of(tokens) == Pieces{"[CLS]", "the", "[MASK]", "[UNK]", "[SEP]"});
  for (const EncodedToken& token : tokens) {
    CHECK(token.special == (token.piece == "[CLS]" || token.piece == "[MASK]" || token.piece == "[SEP]"));
    CHECK(token.unknown == (token.piece == "[UNK]"));
    CHECK(tokenizer.is_special(token.id) == token.piece.starts_with('['));
  }
  CHECK((tokens[2].begin == 4 && tokens[2].end == 10));
  CHECK((tokens[0].end == 0 && tokens[4].begin == 14 && tokens[4].end == 14));
}

TEST_CASE("what is put around a text can be left out, what is written in it stays") {
  const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path("bert_uncased_vocab"));
  CHECK(pieces_of(tokenizer.encode("the [MASK]", SpecialTokens::leave_out)) == Pieces{"the", "[MASK]"});
  const std::vector<TokenId> ids = ids_of(tokenizer.encode("the [MASK] in"));
  CHECK(tokenizer.decode(ids) == "the in");
  CHECK(tokenizer.decode(ids, SpecialTokens::add) == "[CLS] the [MASK] in [SEP]");
}

TEST_CASE("a list of whole words is a WordPiece vocabulary: what it lacks is [UNK]") {
  const TemporaryFolder folder;
  folder.with_file("tokenizer_config.json", R"({"do_lower_case": true})");
  const Tokenizer tokenizer =
      load_tokenizer(folder.with_file("vocab.txt", "[PAD]\n[UNK]\nthe\ncat\nsat\n.\n"));
  CHECK(pieces_of(tokenizer.encode("The cats sat.")) == Pieces{"the", "[UNK]", "sat", "."});
  CHECK(ids_of(tokenizer.encode("The cat")) == std::vector<TokenId>{2, 3});
  CHECK(tokenizer.decode(ids_of(tokenizer.encode("The cat sat."))) == "the cat sat.");
}

TEST_CASE("do_lower_case false keeps capitals and accents") {
  const TemporaryFolder folder;
  folder.with_file("tokenizer_config.json",
                   R"({"do_lower_case": false, "tokenizer_class": "BertTokenizerFast"})");
  const Tokenizer tokenizer =
      load_tokenizer(folder.with_file("vocab.txt", "[UNK]\r\nThe\r\nthe\r\ncaf\u00e9\r\ncafe\r\n"));
  CHECK(pieces_of(tokenizer.encode("The caf\u00e9")) == Pieces{"The", "caf\u00e9"});
}

TEST_CASE("of a piece that stands in vocab.txt twice the last line counts, and empty lines have ids") {
  const TemporaryFolder folder;
  const Tokenizer tokenizer = load_tokenizer(folder.with_file("vocab.txt", "[UNK]\nthe\n\nthe\ncat"));
  CHECK(ids_of(tokenizer.encode("the cat")) == std::vector<TokenId>{3, 4});
}

TEST_CASE("byte-level BPE gives back every byte, also what is not UTF-8") {
  const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path("gpt2_merges"));
  std::string bytes;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; second += 5) {
      bytes.push_back(static_cast<char>(first));
      bytes.push_back(static_cast<char>(second));
    }
  }
  CHECK(tokenizer.decode(ids_of(tokenizer.encode(bytes))) == bytes);
}

TEST_CASE("WordPiece drops bytes that are not UTF-8") {
  const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path("bert_uncased_vocab"));
  CHECK(ids_of(tokenizer.encode("t\xFFhe \xC3")) == ids_of(tokenizer.encode("the")));
}

TEST_CASE("merges are taken from vocab.json and merges.txt as RoBERTa, OPT and Qwen2 use them") {
  const TemporaryFolder folder;
  const std::string pieces = R"("a": 2, "b": 3, "ab": 4, "\u0120": 5, "1": 6, "11": 7)";
  folder.with_file("merges.txt", "#version: 0.2\na b\n1 1\n");
  folder.with_file("vocab.json", R"({"<s>": 0, "</s>": 1, )" + pieces + "}");
  folder.with_file("tokenizer_config.json",
                   R"({"tokenizer_class": "RobertaTokenizer", "add_prefix_space": true})");
  CHECK(ids_of(load_tokenizer(folder.file("vocab.json")).encode("ab11")) == std::vector<TokenId>{0, 5, 4, 7, 1});
  folder.with_file(
      "tokenizer_config.json",
      R"({"tokenizer_class": "GPT2Tokenizer", "bos_token": {"content": "</s>"}, "add_bos_token": true})");
  CHECK(ids_of(load_tokenizer(folder.file("")).encode("ab11</s>")) == std::vector<TokenId>{1, 4, 7, 1});
  folder.with_file("tokenizer_config.json",
                   R"({"tokenizer_class": "Qwen2Tokenizer",
                       "added_tokens_decoder": {"8": {"content": "<|im_start|>", "special": true}}})");
  CHECK(ids_of(load_tokenizer(folder.file("merges.txt")).encode("ab11<|im_start|>")) ==
        std::vector<TokenId>{4, 6, 6, 8});
}

TEST_CASE("a space that is added before a text stands for none of its bytes") {
  const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path("roberta_json"));
  const std::string text = "the heads and the<mask> values";
  std::size_t done = 0;
  for (const EncodedToken& token : tokenizer.encode(text, SpecialTokens::leave_out)) {
    CAPTURE(token.piece);
    CHECK(token.begin == done);
    done = token.end;
    const std::string bytes = text.substr(token.begin, token.end - token.begin);
    const std::string decoded = tokenizer.decode({&token.id, 1}, SpecialTokens::add);
    CHECK(decoded == (token.begin == 0 ? " " + bytes : bytes));
  }
  CHECK(done == text.size());
}

TEST_CASE("GPT-NeoX reads a text in NFC, GPT-2 as it stands") {
  const TemporaryFolder folder;
  folder.with_file("merges.txt", "#version: 0.2\n\u00c3 \u00a9\n");  // the two bytes of é
  folder.with_file("vocab.json", "{\"e\": 0, \"\u00c3\": 1, \"\u00a9\": 2, \"\u00c3\u00a9\": 3}");
  for (const auto& [name, ids] : {std::pair{"GPTNeoXTokenizer", std::vector<TokenId>{3}},
                                  std::pair{"GPT2Tokenizer", std::vector<TokenId>{0}}}) {
    CAPTURE(name);
    folder.with_file("tokenizer_config.json", "{\"tokenizer_class\": \"" + std::string(name) + "\"}");
    CHECK(ids_of(load_tokenizer(folder.file("")).encode("e\u0301")) == ids);
  }
}

TEST_CASE("an OPT's vocabulary alone does not say what it puts before a text") {
  const TemporaryFolder folder;
  folder.with_file("merges.txt", "#version: 0.2\n");
  folder.with_file("vocab.json", R"({"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"a":4,"<mask>":5})");
  folder.with_file("config.json", R"({"model_type": "roberta"})");
  CHECK(ids_of(load_tokenizer(folder.file("")).encode("a")) == std::vector<TokenId>{0, 4, 2});
  folder.with_file("config.json", R"({"model_type": "opt"})");
  CHECK_THROWS_WITH_AS(load_tokenizer(folder.file("")), doctest::Contains("tokenizer_config.json"), Error);
  folder.with_file("tokenizer_config.json", R"({"bos_token": "</s>", "add_bos_token": true})");
  CHECK(ids_of(load_tokenizer(folder.file("")).encode("a")) == std::vector<TokenId>{2, 4});
}

TEST_CASE("vocab.json and merges.txt alone are RoBERTa's where they have its special tokens") {
  const TemporaryFolder folder;
  folder.with_file("merges.txt", "#version: 0.2\nĠ a\n");
  folder.with_file("vocab.json", R"({"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"a":4,"Ġ":5,"Ġa":6,"<mask>":7})");
  const std::string text = "a a <mask>";
  CHECK(ids_of(load_tokenizer(folder.file("")).encode(text)) == std::vector<TokenId>{0, 4, 6, 7, 2});
  folder.with_file("tokenizer_config.json",
                   R"({"tokenizer_class": "RobertaTokenizer", "mask_token": "<mask>"})");
  CHECK(ids_of(load_tokenizer(folder.file("")).encode(text)) == std::vector<TokenId>{0, 4, 6, 7, 2});
  folder.with_file("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})");
  CHECK(ids_of(load_tokenizer(folder.file("")).encode("a a")) == std::vector<TokenId>{4, 6});
}

TEST_CASE("a word of a million letters is tokenized") {
  const std::string word(1'000'000, 'a');
  for (const char* name : golden_tokenizers) {
    CAPTURE(name);
    const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path(name));
    const std::vector<EncodedToken> tokens = tokenizer.encode(word);
    if (tokenizer.kind() == "WordPiece" || tokenizer.kind() == "word list")
      CHECK(std::ranges::count_if(tokens, [](const EncodedToken& token) { return token.unknown; }) == 1);
    else
      CHECK(tokenizer.decode(ids_of(tokens)).ends_with(word));
  }
}

TEST_CASE("half a million combining marks in disorder are tokenized") {
  std::string text = "a";
  for (int i = 0; i < 250'000; ++i) text += i % 2 == 0 ? "\u0301" : "\u0323";
  for (const char* name : {"bert_uncased_vocab", "qwen2_json"})
    CHECK_FALSE(load_tokenizer(golden_tokenizer_path(name)).encode(text).empty());
}

TEST_CASE("an id that the vocabulary does not have is refused") {
  const Tokenizer tokenizer = load_tokenizer(golden_tokenizer_path("gpt2_merges"));
  for (const TokenId id : {TokenId{-1}, tokenizer.vocabulary().end()})
    CHECK_THROWS_WITH_AS(tokenizer.decode(std::vector{id}), doctest::Contains("no such id"), Error);
}

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
    if (tokenizer.kind().ends_with("BPE") || tokenizer.kind().ends_with("Unigram")) continue;
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
