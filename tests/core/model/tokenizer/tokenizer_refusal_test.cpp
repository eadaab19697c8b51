#include <algorithm>
#include <random>

#include "core/model/tokenizer/tokenizer_from_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/model/tokenizer/tokenizer_texts.h"

using namespace headwise;

namespace {

const std::string where = "tokenizer.json";

void check_line(const Error& error, std::string_view begin) {
  const std::string line = error.what();
  INFO(line);
  CHECK(error.status() == ExitStatus::input);
  CHECK(line.starts_with(begin));
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.size() < 1500);
}

// The line of the refusal.
std::string refusal(const std::string& json) {
  try {
    tokenizer_from_json(json, where);
  } catch (const Error& error) {
    check_line(error, where);
    return error.what();
  }
  FAIL_CHECK("taken: " << json);
  return "";
}

std::string refused_file(const std::string& path) {
  try {
    load_tokenizer(path);
  } catch (const Error& error) {
    check_line(error, path.substr(0, path.rfind('/')));
    return error.what();
  }
  FAIL_CHECK("taken: " << path);
  return "";
}

// A small tokenizer.json, with `from` replaced by `to`.
std::string bpe(const std::string& from = "", const std::string& to = "") {
  std::string json =
      R"({"added_tokens":[{"id":3,"content":"<|end|>","special":true}],"normalizer":null,)"
      R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},"post_processor":null,)"
      R"("decoder":{"type":"ByteLevel"},"model":{"type":"BPE","dropout":null,"unk_token":null,"byte_fallback":false,)"
      R"("vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}})";
  if (!from.empty()) {
    const std::size_t at = json.find(from);
    REQUIRE(at != std::string::npos);
    json.replace(at, from.size(), to);
  }
  return json;
}

std::string word_piece(const std::string& from = "", const std::string& to = "") {
  std::string json =
      R"({"added_tokens":[],"normalizer":{"type":"BertNormalizer","lowercase":true},)"
      R"("pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"TemplateProcessing","single":)"
      R"([{"SpecialToken":{"id":"[CLS]"}},{"Sequence":{"id":"A"}}],"special_tokens":{"[CLS]":{"ids":[1]}}},)"
      R"("model":{"type":"WordPiece","max_input_chars_per_word":100,"vocab":{"[UNK]":0,"[CLS]":1,"the":2}}})";
  if (!from.empty()) {
    const std::size_t at = json.find(from);
    REQUIRE(at != std::string::npos);
    json.replace(at, from.size(), to);
  }
  return json;
}

std::string sentence_piece(const std::string& from = "", const std::string& to = "") {
  std::string json =
      R"({"added_tokens":[],"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)"
      R"({"type":"Replace","pattern":{"String":" "},"content":"▁"}]},"pre_tokenizer":null,"post_processor":null,)"
      R"("decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},)"
      R"({"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]},)"
      R"("model":{"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,)"
      R"("vocab":{"<unk>":0,"<0xC3>":1,"<0xA9>":2,"▁":3,"a":4,"▁a":5},"merges":["▁ a"]}})";
  if (!from.empty()) {
    const std::size_t at = json.find(from);
    REQUIRE(at != std::string::npos);
    json.replace(at, from.size(), to);
  }
  return json;
}

}  // namespace

TEST_CASE("the small files that the refusals vary are themselves taken") {
  CHECK(ids_of(tokenizer_from_json(bpe(), where).encode("ab<|end|>a")) == std::vector<TokenId>{2, 3, 0});
  CHECK(ids_of(tokenizer_from_json(word_piece(), where).encode("The cat")) == std::vector<TokenId>{1, 2, 0});
  CHECK(ids_of(tokenizer_from_json(bpe(R"("a b")", R"(["a","b"])"), where).encode("ab")) ==
        std::vector<TokenId>{2});
  CHECK(ids_of(tokenizer_from_json(bpe(R"("type":"BPE",)", ""), where).encode("ab")) == std::vector<TokenId>{2});
  CHECK(ids_of(tokenizer_from_json(sentence_piece(), where).encode("a éxy")) ==
        std::vector<TokenId>{5, 3, 1, 2, 0});
}

TEST_CASE("a list of words is split at white space or into characters, and other ways are named") {
  const auto words = [](const std::string& parts) {
    return R"({"model":{"type":"WordLevel","unk_token":"[UNK]","vocab":{"a":0,"ab":1,"b":2,"é":3," ":4}},)" +
           parts + "}";
  };
  const std::string white_space = R"("pre_tokenizer":{"type":"WhitespaceSplit"})";
  const auto split = [](const std::string& pattern, const std::string& behavior) {
    return R"("pre_tokenizer":{"type":"Split","pattern":)" + pattern + R"(,"behavior":")" + behavior + R"("})";
  };
  const std::string any = R"({"Regex":"[\\s\\S]"})";
  CHECK(ids_of(tokenizer_from_json(words(white_space), where).encode(" ab\na ab")) ==
        std::vector<TokenId>{1, 0, 1});
  for (const std::string& pattern : {any, std::string(R"({"String":""})")})
    CHECK(ids_of(tokenizer_from_json(words(split(pattern, "Isolated")), where).encode("ab éa")) ==
          std::vector<TokenId>{0, 2, 4, 3, 0});
  const std::vector<EncodedToken> unknown = tokenizer_from_json(words(white_space), where).encode("a cd");
  REQUIRE(unknown.size() == 2);
  CHECK((unknown[1].id == no_token && unknown[1].unknown && unknown[1].piece.empty()));
  CHECK((unknown[1].begin == 2 && unknown[1].end == 4));
  const TokenId none = no_token;
  CHECK_THROWS_AS(tokenizer_from_json(words(white_space), where).decode({&none, 1}), Error);
  CHECK_CONTAINS(refusal(words(R"("pre_tokenizer":{"type":"Whitespace"})")),
                 "WordLevel with the pre_tokenizer Whitespace");
  CHECK_CONTAINS(refusal(words(split(any, "Removed"))), "Split");
  CHECK_CONTAINS(refusal(words(split(R"({"String":" "})", "Isolated"))), "Split");
  CHECK_CONTAINS(refusal(words(split(R"({"Regex":"\\s"})", "Isolated"))), "Split");
  CHECK_CONTAINS(refusal(words(white_space + R"(,"normalizer":{"type":"Lowercase"})")), "Lowercase");
  CHECK_CONTAINS(refusal(words(white_space + R"(,"decoder":{"type":"WordPiece"})")), "decoder WordPiece");
}

TEST_CASE("other kinds of tokenizers are named") {
  CHECK_CONTAINS(refusal(R"({"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0.0],["a",-1.5]]}})"),
                 "Unigram");
  CHECK_CONTAINS(refusal(R"({"model":{"unk_id":0,"vocab":[["<unk>",0.0]]}})"), "Unigram");
  CHECK_CONTAINS(refusal(R"({"model":{"type":"WordLevel","vocab":{"a":0}}})"), "WordLevel");
  CHECK_CONTAINS(refusal(R"({"model":{"vocab":{"a":0}}})"), "WordLevel");
  CHECK_CONTAINS(refusal(bpe(R"("byte_fallback":false)", R"("byte_fallback":true)")), "ByteLevel");
  CHECK_CONTAINS(refusal(bpe(R"("type":"ByteLevel","add)", R"("type":"Metaspace","add)")), "Metaspace");
  CHECK_CONTAINS(refusal(sentence_piece(R"("prepend":"▁")", R"("prepend":"_")")), "Prepend");
  CHECK_CONTAINS(refusal(sentence_piece(R"("String":" ")", R"("String":"x")")), "Replace");
  CHECK_CONTAINS(refusal(sentence_piece(R"("type":"Fuse")", R"("type":"CTC")")), "CTC");
  CHECK_CONTAINS(refusal(sentence_piece(R"("pre_tokenizer":null)",
                                        R"("pre_tokenizer":{"type":"Metaspace","split":false})")),
                 "twice");
  CHECK_CONTAINS(
      refusal(sentence_piece(R"("type":"Sequence","normalizers")", R"("type":"Odd","normalizers")")), "Odd");
  CHECK_CONTAINS(refusal(sentence_piece(R"("unk_token":"<unk>")", R"("unk_token":"<no>")")), "unk_token");
  CHECK_CONTAINS(refusal(bpe(R"("normalizer":null)", R"("normalizer":{"type":"Lowercase"})")), "Lowercase");
  CHECK_CONTAINS(refusal(bpe(R"("decoder":{"type":"ByteLevel"})", R"("decoder":{"type":"Fuse"})")), "Fuse");
  CHECK_CONTAINS(refusal(bpe(R"("dropout":null)", R"("dropout":0.1)")), "dropout");
  CHECK_CONTAINS(refusal(bpe(R"("unk_token":null)", R"("end_of_word_suffix":"</w>")")), "</w>");
  CHECK_CONTAINS(refusal(bpe(R"("post_processor":null)", R"("post_processor":{"type":"Odd"})")), "Odd");
  CHECK_CONTAINS(refusal(word_piece("BertNormalizer", "NFKC")), "NFKC");
  CHECK_CONTAINS(refusal(word_piece("BertPreTokenizer", "Whitespace")), "Whitespace");
}

TEST_CASE("a regular expression that is not known is named") {
  const std::string split =
      R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\w+"},)"
      R"("behavior":"Isolated","invert":false},{"type":"ByteLevel","use_regex":false}]},"post)";
  const std::string own =
      R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},"post)";
  CHECK_CONTAINS(refusal(bpe(own, split)), "\\w+");
}

TEST_CASE("damaged JSON and settings of the wrong type are refused") {
  for (const char* json : {"", "{", "[]", "null", "7", "{}", R"({"model":[]})", R"({"model":{}})", "\xFF",
                           "{\"model\":\"\xFF\"}", R"({"model":{"type":"BPE"}})", R"({"model":{"type":7}})",
                           R"({"model":{"type":"BPE","vocab":{}}})"}) {
    refusal(json);
  }
  refusal(bpe() + "x");
  refusal(bpe() + std::string(1, '\0'));
  refusal(bpe(R"("a":0)", R"("a":-1)"));
  refusal(bpe(R"("a":0)", R"("a":0.5)"));
  refusal(bpe(R"("a":0)", R"("a":"0")"));
  refusal(bpe(R"("a":0)", R"("a":null)"));
  refusal(bpe(R"("a":0)", R"("a":[0])"));
  refusal(bpe(R"("a":0)", R"("a":{})"));
  refusal(bpe(R"("a":0)", R"("a":4000000)"));
  CHECK_CONTAINS(refusal(bpe(R"("a":0)", R"("a":3999999)")), "gaps");
  refusal(bpe(R"("a":0)", R"("a":18446744073709551615)"));
  refusal(bpe(R"("a b")", R"("ab")"));
  refusal(bpe(R"("a b")", R"("a b c")"));
  refusal(bpe(R"("a b")", R"(["a"])"));
  refusal(bpe(R"("a b")", R"(["a","b","c"])"));
  refusal(bpe(R"("a b")", R"(["a",["b"]])"));
  refusal(bpe(R"("a b")", R"({"a":"b"})"));
  refusal(bpe(R"("a b")", "7"));
  refusal(bpe(R"("a b")", R"("a c")"));
  refusal(bpe(R"("ab":2)", R"("ac":2)"));
  refusal(bpe(R"("id":3)", R"("id":-3)"));
  refusal(bpe(R"("id":3)", R"("id":1e300)"));
  refusal(bpe(R"("content":"<|end|>")", R"("content":"")"));
  refusal(bpe(R"("content":"<|end|>")", R"("content":")" + std::string(2000, 'x') + "\""));
  refusal(bpe(R"("special":true)", R"("special":1)"));
  refusal(bpe(R"("unk_token":null)", R"("unk_token":"<unk>")"));
  refusal(word_piece(R"("[UNK]":0)", R"("unk":0)"));
  refusal(word_piece(":100", ":1000000"));
  refusal(word_piece(":100", ":-1"));
  refusal(word_piece(R"("ids":[1])", R"("ids":[7])"));
  refusal(word_piece(R"("ids":[1])", R"("ids":[])"));
  refusal(word_piece(R"({"Sequence":{"id":"A"}})", R"({"Sequence":{"id":"A"}},{"Sequence":{"id":"A"}})"));
}

TEST_CASE("what stands twice is refused") {
  CHECK_CONTAINS(refusal(bpe(R"("b":1)", R"("a":1)")), "twice");
  CHECK_CONTAINS(refusal(bpe(R"("b":1)", R"("b":0)")), "two pieces have the id 0");
  CHECK_CONTAINS(refusal(bpe(R"("normalizer":null)", R"("added_tokens":[])")), "twice");
  CHECK_CONTAINS(refusal(bpe(R"("type":"BPE")", R"("type":"BPE","vocab":{})")), "twice");
  CHECK_CONTAINS(refusal(bpe(R"("merges":)", R"("merges":[],"merges":)")), "twice");
  CHECK_CONTAINS(refusal(bpe(R"("id":3,"content":"<|end|>")", R"("id":3,"content":"a")")), "two ids");
}

TEST_CASE("JSON that is deep, or of many settings, ends soon") {
  CHECK_CONTAINS(refusal(std::string(100'000, '[')), "nested");
  CHECK_CONTAINS(refusal(R"({"model":{"vocab":)" + std::string(100'000, '[')), "nested");
  std::string many = "{\"x\":[0";
  for (int i = 0; i < 1'000'001; ++i) many += ",0";
  CHECK_CONTAINS(refusal(many + "]}"), "million");
}

TEST_CASE("every beginning and thousands of changes of a tokenizer.json are read or refused") {
  int taken = 0;
  const auto check = [&taken](const std::string& json) {
    try {
      const Tokenizer tokenizer = tokenizer_from_json(json, where);
      const std::vector<EncodedToken> tokens = tokenizer.encode("The ab <|end|> [CLS] a");
      tokenizer.decode(ids_of(tokens));
      ++taken;
    } catch (const Error& error) {
      check_line(error, where);
    }
  };
  for (const std::string& json : {bpe(), word_piece(), sentence_piece()}) {
    for (std::size_t length = 0; length < json.size(); ++length) refusal(json.substr(0, length));
    for (std::size_t at = 0; at < json.size(); ++at) {
      for (const int flip : {0x01, 0x10, 0x80, 0xFF}) {
        std::string changed = json;
        changed[at] = static_cast<char>(changed[at] ^ flip);
        check(changed);
      }
      for (std::size_t length = 1; length < 40; length += 7) check(std::string(json).erase(at, length));
    }
  }
  CHECK(taken > 500);
}

TEST_CASE("a folder without a tokenizer, and files of other kinds, are named") {
  const TemporaryFolder folder;
  CHECK_CONTAINS(refused_file(folder.file("")), "no tokenizer");
  folder.with_file("tokenizer.model", "x");
  CHECK_CONTAINS(refused_file(folder.file("")), "SentencePiece");
  CHECK_CONTAINS(refused_file(folder.file("tokenizer.model")), "SentencePiece");
  CHECK_CONTAINS(refused_file(folder.with_file("empty.json", "")), "empty");
  refused_file(folder.file("missing.json"));
  CHECK_CONTAINS(refused_file(folder.with_file("vocab.txt", "the\ncat\n")), "[UNK]");
  folder.with_file("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  CHECK_CONTAINS(refused_file(folder.with_file("vocab.txt", "[UNK]\n")), "BertJapaneseTokenizer");
}

TEST_CASE("vocab.json and merges.txt that do not fit each other, or are of CLIP, are refused") {
  const TemporaryFolder folder;
  folder.with_file("vocab.json", R"({"a": 0, "b": 1, "ab": 2})");
  refused_file(folder.file("vocab.json"));  // no merges.txt
  folder.with_file("merges.txt", "#version: 0.2\na c\n");
  CHECK_CONTAINS(refused_file(folder.file("vocab.json")), "'c'");
  folder.with_file("merges.txt", "a b</w>\n");
  CHECK_CONTAINS(refused_file(folder.file("vocab.json")), "</w>");
  folder.with_file("merges.txt", "a b\n");
  folder.with_file("vocab.json", "[]");
  CHECK_CONTAINS(refused_file(folder.file("vocab.json")), "not a tokenizer");
  folder.with_file("vocab.json", R"({"a": 0, "a": 1})");
  CHECK_CONTAINS(refused_file(folder.file("vocab.json")), "twice");
}

TEST_CASE("a number that a tokenizer cannot have is refused as its file has it") {
  const auto refused = [](const std::string& from, const std::string& to, const std::string& part) {
    const std::string line = refusal(bpe(from, to));
    CAPTURE(line);
    CHECK_CONTAINS(line, part);
  };
  for (const std::string word : {"Infinity", "-Infinity", "NaN"}) {
    refused("\"ab\":2", "\"ab\":" + word, "the vocabulary is damaged at 'ab': got " + word);
    refused("[\"a b\"]", "[" + word + "]", "the merges are damaged: got " + word);
    refused("\"byte_fallback\":false", "\"byte_fallback\":" + word,
            "model.byte_fallback: wrong type: got " + word);
  }
  refused("\"ab\":2", "\"ab\":{\"a\":1}", "the vocabulary is damaged at 'ab': got an object");
  refused("\"ab\":2", "\"ab\":{}", "the vocabulary is damaged at 'ab': got an object");
  refused("\"ab\":2", "\"ab\":1e999", "a number is out of range: got 1e999; expected numbers of at most");
}
