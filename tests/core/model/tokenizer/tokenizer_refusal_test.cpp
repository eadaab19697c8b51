#include <algorithm>
#include <random>

#include "core/model/tokenizer/tokenizer_from_json.h"
#include "core/tensor/error.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/model/tokenizer/tokenizer_texts.h"
#include "tests/refusals.h"

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

// `make` is refused in one line that begins so and has this part.
template <class F>
void check_refused(const F& make, std::string_view begin, const std::string& part) {
  const std::string line = test::refused_with(make, {part});
  CHECK(line.starts_with(begin));
  CHECK(line.size() < 1500);
}

void refused(const std::string& json, const std::string& part = "") {
  check_refused([&] { tokenizer_from_json(json, where); }, where, part);
}

void refused_file(const std::string& path, const std::string& part = "") {
  check_refused([&] { load_tokenizer(path); }, path.substr(0, path.rfind('/')), part);
}

// Small files of three kinds.
const std::string bpe =
    R"({"added_tokens":[{"id":3,"content":"<|end|>","special":true}],"normalizer":null,)"
    R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},"post_processor":null,)"
    R"("decoder":{"type":"ByteLevel"},"model":{"type":"BPE","dropout":null,"unk_token":null,"byte_fallback":false,)"
    R"("vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}})";
const std::string word_piece =
    R"({"added_tokens":[],"normalizer":{"type":"BertNormalizer","lowercase":true},)"
    R"("pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"TemplateProcessing","single":)"
    R"([{"SpecialToken":{"id":"[CLS]"}},{"Sequence":{"id":"A"}}],"special_tokens":{"[CLS]":{"ids":[1]}}},)"
    R"("model":{"type":"WordPiece","max_input_chars_per_word":100,"vocab":{"[UNK]":0,"[CLS]":1,"the":2}}})";
const std::string sentence_piece =
    R"({"added_tokens":[],"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)"
    R"({"type":"Replace","pattern":{"String":" "},"content":"▁"}]},"pre_tokenizer":null,"post_processor":null,)"
    R"("decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},)"
    R"({"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]},)"
    R"("model":{"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,)"
    R"("vocab":{"<unk>":0,"<0xC3>":1,"<0xA9>":2,"▁":3,"a":4,"▁a":5},"merges":["▁ a"]}})";

const std::string unigram =
    R"({"added_tokens":[{"id":1,"content":"</s>","special":true}],"normalizer":{"type":"Sequence","normalizers":)"
    // maps "b" to "cc": three units and a text
    R"([{"type":"Precompiled","precompiled_charsmap":"DAAAAACMAQBiDQAAAAAAgGNjAA=="},{"type":"Replace","pattern":{"Regex":" {2,}"},)"
    R"("content":" "},{"type":"Lowercase"}]},"pre_tokenizer":{"type":"Sequence","pretokenizers":)"
    R"([{"type":"WhitespaceSplit"},{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}]},)"
    R"("post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"</s>"}}],)"
    R"("special_tokens":{"</s>":{"ids":[1]}}},"decoder":{"type":"Metaspace","prepend_scheme":"always"},)"
    R"("model":{"type":"Unigram","unk_id":0,"byte_fallback":false,"vocab":[["<unk>",0.0],["</s>",0.0],["▁",-3.5],)"
    R"(["a",-2],["▁a",-1.25],["cc",-4.0]]}})";

// With `from` replaced by `to`.
std::string with(std::string json, const std::string& from, const std::string& to) {
  const std::size_t at = json.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return json.replace(at, from.size(), to);
}

struct Replaced {
  const std::string& json;
  std::string from, to, part = "";
};

void check_each_refused(const std::vector<Replaced>& replaced) {
  for (const auto& [json, from, to, part] : replaced) {
    CAPTURE(from);
    CAPTURE(to);
    refused(with(json, from, to), part);
  }
}

std::vector<TokenId> ids_in(const std::string& json, const std::string& text) {
  return ids_of(tokenizer_from_json(json, where).encode(text));
}

}  // namespace

TEST_CASE("the small files that the refusals vary are themselves taken") {
  using Ids = std::vector<TokenId>;
  CHECK(ids_in(bpe, "ab<|end|>a") == Ids{2, 3, 0});
  CHECK(ids_in(word_piece, "The cat") == Ids{1, 2, 0});
  CHECK(ids_in(with(bpe, R"("a b")", R"(["a","b"])"), "ab") == Ids{2});
  CHECK(ids_in(with(bpe, R"("type":"BPE",)", ""), "ab") == Ids{2});
  CHECK(ids_in(sentence_piece, "a éxy") == Ids{5, 3, 1, 2, 0});
  CHECK(ids_in(unigram, "A  ba") == Ids{4, 2, 5, 3, 1});
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
  CHECK(ids_in(words(white_space), " ab\na ab") == std::vector<TokenId>{1, 0, 1});
  for (const std::string& pattern : {any, std::string(R"({"String":""})")})
    CHECK(ids_in(words(split(pattern, "Isolated")), "ab éa") == std::vector<TokenId>{0, 2, 4, 3, 0});
  const std::vector<EncodedToken> unknown = tokenizer_from_json(words(white_space), where).encode("a cd");
  REQUIRE(unknown.size() == 2);
  CHECK((unknown[1].id == no_token && unknown[1].unknown && unknown[1].piece.empty()));
  CHECK((unknown[1].begin == 2 && unknown[1].end == 4));
  const TokenId none = no_token;
  CHECK_THROWS_AS(tokenizer_from_json(words(white_space), where).decode({&none, 1}), Error);
  refused(words(R"("pre_tokenizer":{"type":"Whitespace"})"), "WordLevel with the pre_tokenizer Whitespace");
  refused(words(split(any, "Removed")), "Split");
  refused(words(split(R"({"String":" "})", "Isolated")), "Split");
  refused(words(split(R"({"Regex":"\\s"})", "Isolated")), "Split");
  refused(words(white_space + R"(,"normalizer":{"type":"Lowercase"})"), "Lowercase");
  refused(words(white_space + R"(,"decoder":{"type":"WordPiece"})"), "decoder WordPiece");
}

TEST_CASE("other kinds of tokenizers are named") {
  refused(R"({"model":{"type":"WordLevel","vocab":{"a":0}}})", "WordLevel");
  refused(R"({"model":{"vocab":{"a":0}}})", "WordLevel");
  check_each_refused(
      {{bpe, R"("byte_fallback":false)", R"("byte_fallback":true)", "ByteLevel"},
       {bpe, R"("type":"ByteLevel","add)", R"("type":"Metaspace","add)", "Metaspace"},
       {bpe, R"("normalizer":null)", R"("normalizer":{"type":"Lowercase"})", "Lowercase"},
       {bpe, R"("decoder":{"type":"ByteLevel"})", R"("decoder":{"type":"Fuse"})", "Fuse"},
       {bpe, R"("dropout":null)", R"("dropout":0.1)", "dropout"},
       {bpe, R"("unk_token":null)", R"("end_of_word_suffix":"</w>")", "</w>"},
       {bpe, R"("post_processor":null)", R"("post_processor":{"type":"Odd"})", "Odd"},
       {word_piece, "BertNormalizer", "NFKC", "NFKC"},
       {word_piece, "BertPreTokenizer", "Whitespace", "Whitespace"},
       {sentence_piece, R"("prepend":"▁")", R"("prepend":"_")", "Prepend"},
       {sentence_piece, R"("String":" ")", R"("String":"x")", "Replace"},
       {sentence_piece, R"("type":"Fuse")", R"("type":"CTC")", "CTC"},
       {sentence_piece, R"(tokenizer":null)", R"(tokenizer":{"type":"Metaspace","split":false})", "twice"},
       {sentence_piece, R"("type":"Sequence","normalizers")", R"("type":"Odd","normalizers")", "Odd"},
       {sentence_piece, R"("unk_token":"<unk>")", R"("unk_token":"<no>")", "unk_token"}});
}

TEST_CASE("a damaged vocabulary of pieces and scores is refused by its entry") {
  const std::string first = R"(["<unk>",0.0])", entry = "entry 0 of the vocabulary is damaged: got ";
  const std::string list = unigram.substr(unigram.find(R"("vocab":)"), std::string::npos);
  check_each_refused({{unigram, first, R"(["<unk>",NaN])", entry + "NaN"},
                      {unigram, first, R"(["<unk>",-Infinity])", entry + "-Infinity"},
                      {unigram, first, R"(["<unk>"])", entry + "1 parts"},
                      {unigram, first, R"([0.0,"<unk>"])", entry + "a number"},
                      {unigram, first, R"(["<unk>",0.0,1.0])", entry + "a number"},
                      {unigram, first, R"(["<unk>","0"])", entry + "a string"},
                      {unigram, first, R"(["<unk>",null])", entry + "null"},
                      {unigram, first, R"(["<unk>",[0.0]])", entry + "a list"},
                      {unigram, first, R"("<unk>")", entry + "a string"},
                      {unigram, first, R"({"<unk>":0})", entry},
                      {unigram, first, "[]", entry + "0 parts"},
                      {unigram, first, R"(["",0.0])", "piece 0 of the vocabulary is damaged: got 0 bytes"},
                      {unigram, first, R"([")" + std::string(1025, 'x') + R"(",0.0])", "1025 bytes"},
                      {unigram, first, "[\"\xFF\",0.0]", "not JSON"},
                      {unigram, R"(["a",-2])", R"(["</s>",-2])", "twice"},
                      {unigram, list, R"("vocab":[]}})", "no vocabulary of pieces and scores"},
                      {unigram, list, R"("vocab":{"a":0}}})", "no vocabulary of pieces and scores"},
                      {unigram, R"("unk_id":0)", R"("unk_id":6)", "unk_id"},
                      {unigram, R"("unk_id":0)", R"("unk_id":-1)", "unk_id"},
                      {unigram, R"("unk_id":0)", R"("unk_id":"<unk>")", "unk_id"}});
  refused(with(bpe, R"({"a":0,"b":1,"ab":2})", R"([["a",0],["b",1],["ab",2]])"), "no vocabulary");
  // Without an unk_id it is known which characters have no piece.
  const Tokenizer without = tokenizer_from_json(with(unigram, R"("unk_id":0)", R"("unk_id":null)"), where);
  const std::vector<EncodedToken> tokens = without.encode("a x");
  REQUIRE(tokens.size() == 4);
  CHECK((tokens[2].id == no_token && tokens[2].unknown && tokens[2].begin == 2 && tokens[2].end == 3));
}

TEST_CASE("a damaged map of characters is refused, and so is a normalizer that is not computed") {
  const std::string map = "DAAAAACMAQBiDQAAAAAAgGNjAA==";
  const auto other_map = [&](const std::string& text) { return with(unigram, map, text); };
  const std::string damaged = "this map of characters is damaged: got ";
  refused(other_map(""), damaged + "0 bytes");
  refused(other_map("AAA"), damaged + "no base64");
  refused(other_map("AA*="), damaged + "no base64");
  refused(other_map("DAAAAACMAQBiAAAA"), damaged + "12 bytes of a double array in 12");
  refused(other_map("DAAAAACMAQBiDQAAAAAAgA=="), damaged + "a text at byte 0 of 0");
  refused(other_map("DAAAAACMAQBiDQAAAAAAgGNj"), damaged + "texts that are cut");
  refused(other_map("DAAAAACMAQBiDQAAAAAAgP8A"), damaged + "a text that is not UTF-8");
  refused(other_map("DAAAAACMAQBiDQAACQAAgGNjAA=="), damaged + "a text at byte 9 of 3");
  CHECK(ids_in(other_map("DAAAAACMAQBi/T8AAAAAgGNjAA=="), "a b") ==
        std::vector<TokenId>{4, 2, 0, 1});  // leads nowhere
  check_each_refused(
      {{unigram, R"("type":"Lowercase")", R"("type":"Nmt")", "this normalizer is not computed: got Nmt"},
       {unigram, R"("Regex":" {2,}")", R"("Regex":"\\s+")", "\\s+"},
       {unigram, R"("content":" ")", R"("content":")" + std::string(65, 'x') + "\"", "65 bytes"},
       {unigram, R"("type":"WhitespaceSplit")", R"("type":"Punctuation")", "Punctuation"},
       {unigram, R"("type":"WhitespaceSplit")", R"("type":"Metaspace")", "after another"},
       {unigram, R"("decoder":{"type":"Metaspace")", R"("decoder":{"type":"CTC")", "CTC"}});
  const std::string long_one =
      R"("pattern":{"String":"a"},"content":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")";
  const Tokenizer growing =
      tokenizer_from_json(with(unigram, R"("pattern":{"Regex":" {2,}"},"content":" ")", long_one), where);
  CHECK(growing.encode("a").size() == 41);
  check_refused([&] { growing.encode(std::string(5000, 'a')); }, where, "makes the text too long");
}

TEST_CASE("a regular expression that is not known is named") {
  const std::string split =
      R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\w+"},)"
      R"("behavior":"Isolated","invert":false},{"type":"ByteLevel","use_regex":false}]},"post)";
  const std::string own =
      R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},"post)";
  refused(with(bpe, own, split), "\\w+");
}

TEST_CASE("damaged JSON and settings of the wrong type are refused") {
  for (const char* json : {"", "{", "[]", "null", "7", "{}", R"({"model":[]})", R"({"model":{}})", "\xFF",
                           "{\"model\":\"\xFF\"}", R"({"model":{"type":"BPE"}})", R"({"model":{"type":7}})",
                           R"({"model":{"type":"BPE","vocab":{}}})"})
    refused(json);
  refused(bpe + "x");
  refused(bpe + std::string(1, '\0'));
  for (const char* id : {"-1", "0.5", "\"0\"", "null", "[0]", "{}", "4000000", "18446744073709551615"})
    refused(with(bpe, R"("a":0)", std::string(R"("a":)") + id));
  for (const char* merge : {R"("ab")", R"("a b c")", R"(["a"])", R"(["a","b","c"])", R"(["a",["b"]])",
                            R"({"a":"b"})", "7", R"("a c")"})
    refused(with(bpe, R"("a b")", merge));
  check_each_refused(
      {{bpe, R"("a":0)", R"("a":3999999)", "gaps"},
       {bpe, R"("ab":2)", R"("ac":2)"},
       {bpe, R"("id":3)", R"("id":-3)"},
       {bpe, R"("id":3)", R"("id":1e300)"},
       {bpe, R"("content":"<|end|>")", R"("content":"")"},
       {bpe, R"("content":"<|end|>")", R"("content":")" + std::string(2000, 'x') + "\""},
       {bpe, R"("special":true)", R"("special":1)"},
       {bpe, R"("unk_token":null)", R"("unk_token":"<unk>")"},
       {word_piece, R"("[UNK]":0)", R"("unk":0)"},
       {word_piece, ":100", ":1000000"},
       {word_piece, ":100", ":-1"},
       {word_piece, R"("ids":[1])", R"("ids":[7])"},
       {word_piece, R"("ids":[1])", R"("ids":[])"},
       {word_piece, R"({"Sequence":{"id":"A"}})", R"({"Sequence":{"id":"A"}},{"Sequence":{"id":"A"}})"}});
}

TEST_CASE("what stands twice is refused") {
  check_each_refused({{bpe, R"("b":1)", R"("a":1)", "twice"},
                      {bpe, R"("b":1)", R"("b":0)", "two pieces have the id 0"},
                      {bpe, R"("normalizer":null)", R"("added_tokens":[])", "twice"},
                      {bpe, R"("type":"BPE")", R"("type":"BPE","vocab":{})", "twice"},
                      {bpe, R"("merges":)", R"("merges":[],"merges":)", "twice"},
                      {bpe, R"("id":3,"content":"<|end|>")", R"("id":3,"content":"a")", "two ids"}});
}

TEST_CASE("JSON that is deep, or of many settings, ends soon") {
  refused(std::string(100'000, '['), "nested");
  refused(R"({"model":{"merges":[],"vocab":)" + std::string(100'000, '['), "a list");
  std::string many = "{\"x\":[0";
  for (int i = 0; i < 1'000'001; ++i) many += ",0";
  refused(many + "]}", "million");
}

TEST_CASE("every beginning and thousands of changes of a tokenizer.json are read or refused") {
  int taken = 0;
  const auto check = [&taken](const std::string& json) {
    try {
      const Tokenizer tokenizer = tokenizer_from_json(json, where);
      const std::vector<EncodedToken> tokens = tokenizer.encode("The ab <|end|> [CLS] a");
      std::vector<TokenId> ids = ids_of(tokens);
      std::erase(ids, no_token);
      tokenizer.decode(ids);
      ++taken;
    } catch (const Error& error) {
      check_line(error, where);
    }
  };
  for (const std::string& json : {bpe, word_piece, sentence_piece, unigram}) {
    for (std::size_t length = 0; length < json.size(); ++length) refused(json.substr(0, length));
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
  refused_file(folder.file(""), "no tokenizer");
  folder.with_file("tokenizer.model", "x");
  refused_file(folder.file(""), "SentencePiece");
  refused_file(folder.file("tokenizer.model"), "SentencePiece");
  refused_file(folder.with_file("empty.json", ""), "empty");
  refused_file(folder.file("missing.json"));
  refused_file(folder.with_file("vocab.txt", "the\ncat\n"), "[UNK]");
  folder.with_file("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  refused_file(folder.with_file("vocab.txt", "[UNK]\n"), "BertJapaneseTokenizer");
}

TEST_CASE("vocab.json and merges.txt that do not fit each other, or are of CLIP, are refused") {
  const TemporaryFolder folder;
  folder.with_file("vocab.json", R"({"a": 0, "b": 1, "ab": 2})");
  refused_file(folder.file("vocab.json"));  // no merges.txt
  folder.with_file("merges.txt", "#version: 0.2\na c\n");
  refused_file(folder.file("vocab.json"), "'c'");
  folder.with_file("merges.txt", "a b</w>\n");
  refused_file(folder.file("vocab.json"), "</w>");
  folder.with_file("merges.txt", "a b\n");
  folder.with_file("vocab.json", "[]");
  refused_file(folder.file("vocab.json"), "not a tokenizer");
  folder.with_file("vocab.json", R"({"a": 0, "a": 1})");
  refused_file(folder.file("vocab.json"), "twice");
}

TEST_CASE("a number that a tokenizer cannot have is refused as its file has it") {
  for (const std::string word : {"Infinity", "-Infinity", "NaN"})
    check_each_refused({{bpe, "\"ab\":2", "\"ab\":" + word, "the vocabulary is damaged at 'ab': got " + word},
                        {bpe, "[\"a b\"]", "[" + word + "]", "the merges are damaged: got " + word},
                        {bpe, "\"byte_fallback\":false", "\"byte_fallback\":" + word,
                         "model.byte_fallback: wrong type: got " + word}});
  check_each_refused(
      {{bpe, "\"ab\":2", "\"ab\":{\"a\":1}", "the vocabulary is damaged at 'ab': got an object"},
       {bpe, "\"ab\":2", "\"ab\":{}", "the vocabulary is damaged at 'ab': got an object"},
       {bpe, "\"ab\":2", "\"ab\":1e999", "a number is out of range: got 1e999; expected numbers of at most"}});
}
