#include "core/scenario/embeddings.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace headwise;

namespace {

Tensor embed(std::string_view text, Index width, bool positions = true, std::uint64_t seed = 0,
             Index batch = 1) {
  return text_embeddings(tokenise(text), batch, embedding_layout(width), seed, positions, DType::f64, "L",
                         "E");
}

double dot(const Tensor& x, Index a, Index b, Index first, Index last) {
  double sum = 0.0;
  for (Index c = first; c < last; ++c) sum += x.at({0, a, c}) * x.at({0, b, c});
  return sum;
}

using Words = std::vector<std::string>;

Words words(std::string_view text) {
  Words all;
  for (const Token& token : tokenise(text)) all.push_back(token.text);
  return all;
}

std::string lookup(std::string_view word) {
  return tokenise(word).at(0).lookup;
}

}  // namespace

TEST_CASE("the layout divides the columns: words, positions, a constant, at every width") {
  const EmbeddingLayout layout = embedding_layout(128);
  CHECK(layout.word_pairs == 32);
  CHECK(layout.position_pairs == 31);
  CHECK(layout.position_column() == 64);
  CHECK(layout.constant_column() == 127);
  for (Index width = 0; width < 600; ++width) {
    const EmbeddingLayout l = embedding_layout(width);
    CHECK(l.word_pairs + l.position_pairs + l.constant_pairs == width / 2);
    CHECK(l.word_pairs >= l.position_pairs);
  }
}

TEST_CASE(
    "equal words have equal codes wherever they stand and however they are written, other words have "
    "others") {
  const Tensor x = embed("The cat the CAFÉ cafe\u0301", 128);
  for (Index c = 0; c < 64; ++c) {
    CHECK(x.at({0, 0, c}) == x.at({0, 2, c}));
    CHECK(x.at({0, 3, c}) == x.at({0, 4, c}));
  }
  CHECK(dot(x, 0, 2, 0, 64) == doctest::Approx(32.0));
  CHECK(std::abs(dot(x, 0, 1, 0, 64)) < 16.0);
  CHECK(x.at({0, 0, 0}) != embed("The", 128, true, 1).at({0, 0, 0}));
}

TEST_CASE("positions are the sinusoids of the paper, and switching them off leaves zeros") {
  const Tensor x = embed("a b c d", 128);
  for (Index position = 0; position < 4; ++position) {
    for (Index p = 0; p < 31; ++p) {
      const double angle =
          static_cast<double>(position) / std::pow(10000.0, 2.0 * static_cast<double>(p) / 62.0);
      CHECK(x.at({0, position, 64 + 2 * p}) == doctest::Approx(std::sin(angle)));
      CHECK(x.at({0, position, 65 + 2 * p}) == doctest::Approx(std::cos(angle)));
    }
    CHECK(x.at({0, position, 126}) == 0.0);
    CHECK(x.at({0, position, 127}) == 1.0);
  }
  const Tensor off = embed("a b c d", 128, false);
  for (Index c = 64; c < 126; ++c) CHECK(off.at({0, 2, c}) == 0.0);
  CHECK(off.at({0, 2, 0}) == x.at({0, 2, 0}));
}

TEST_CASE("each batch entry holds the same sentence; narrow and odd widths work") {
  const Tensor x = embed("a b", 10, true, 0, 3);
  CHECK(x.shape().sizes_text() == "(3,2,10)");
  for (Index c = 0; c < 10; ++c) CHECK(x.at({0, 1, c}) == x.at({2, 1, c}));
  for (const Index width : {1, 2, 3, 4, 5, 7}) {
    const Tensor narrow = embed("a b", width);
    CHECK(narrow.at({0, 0, 0}) != narrow.at({0, 1, 0}));
    if (width > 1 && width % 2 == 1) CHECK(narrow.at({0, 1, width - 1}) == 0.0);
  }
  CHECK(embed("", 8).shape().sizes_text() == "(1,0,8)");
}

TEST_CASE("the position kernel depends on the distance alone, and its sharpness gives the asked share") {
  const Tensor x = embed("a b c d e f g h", 128);
  const PositionKernel kernel = PositionKernel::strided(8, 1, 31);
  for (const Index distance : {0, 1, 3}) {
    CHECK(dot(x, 0, distance, 64, 80) == doctest::Approx(kernel.value(distance)));
    CHECK(dot(x, 4, 4 + distance, 64, 80) == doctest::Approx(kernel.value(distance)));
  }
  CHECK(kernel.value(0) == kernel.peak());
  CHECK(kernel.largest_beside(512) < kernel.peak());
  const double sharpness = kernel.sharpness(512, 0.9, 1e6);
  double sum = 0.0;
  for (Index d = -511; d <= 511; ++d) sum += std::exp(sharpness * (kernel.value(d) - kernel.peak()));
  CHECK(1.0 / sum == doctest::Approx(0.9));
  CHECK(kernel.sharpness(512, 0.9, 0.5 * sharpness) == 0.5 * sharpness);
}

TEST_CASE("a sentence becomes words and punctuation") {
  CHECK(
      words("The animal didn't cross the street because it was too tired") ==
      Words{"The", "animal", "did", "n't", "cross", "the", "street", "because", "it", "was", "too", "tired"});
  CHECK(words("Hello, world! (Really?)") == Words{"Hello", ",", "world", "!", "(", "Really", "?", ")"});
  CHECK(words("one\r\ntwo\rthree") == Words{"one", "two", "three"});
  CHECK(words("").empty());
  CHECK(words(" \t\r\n\u00a0\u3000\u2028").empty());
}

TEST_CASE("English contractions part as in the Penn Treebank, with either apostrophe") {
  CHECK(words("can't we've it's I'll you're he'd I'm") ==
        Words{"ca", "n't", "we", "'ve", "it", "'s", "I", "'ll", "you", "'re", "he", "'d", "I", "'m"});
  CHECK(words("didn\u2019t it\u2019s") == Words{"did", "n\u2019t", "it", "\u2019s"});
  CHECK(words("DIDN'T It'S") == Words{"DID", "N'T", "It", "'S"});
  CHECK(words("n't 's") == Words{"n't", "'", "s"});
  CHECK(words("o'clock l'été rock'n'roll") == Words{"o'clock", "l'été", "rock'n'roll"});
  CHECK(words("dogs' 'quoted'") == Words{"dogs", "'", "'", "quoted", "'"});
}

TEST_CASE("numbers and joined words stay whole") {
  CHECK(words("3.14 1,000,000 2-3 well-known snake_case B12") ==
        Words{"3.14", "1,000,000", "2-3", "well-known", "snake_case", "B12"});
  CHECK(words("end.Next a,b 5. -1 --") ==
        Words{"end", ".", "Next", "a", ",", "b", "5", ".", "-", "1", "-", "-"});
}

TEST_CASE("combining marks and emoji sequences stay with their base") {
  CHECK(words("e\u0301te\u0301 n\u0303") == Words{"e\u0301te\u0301", "n\u0303"});
  CHECK(words("\U0001F642\U0001F642") == Words{"\U0001F642", "\U0001F642"});
  const std::string family = "\U0001F469\u200D\U0001F469\u200D\U0001F467", wave = "\U0001F44B\U0001F3FD",
                    flag = "\U0001F1E9\U0001F1EA", rainbow = "\U0001F3F3\uFE0F\u200D\U0001F308";
  CHECK(words(family + wave + flag + flag + rainbow) == Words{family, wave, flag, flag, rainbow});
  CHECK(words("नमस्ते दुनिया") == Words{"नमस्ते", "दुनिया"});
}

TEST_CASE("Han, Hiragana and Katakana are a token each, Hangul and Arabic are words") {
  CHECK(words("你好，世界") == Words{"你", "好", "，", "世", "界"});
  CHECK(words("ねこcat ネコ") == Words{"ね", "こ", "cat", "ネ", "コ"});
  CHECK(words("\U00020000\U00020001") == Words{"\U00020000", "\U00020001"});
  CHECK(words("안녕 세상") == Words{"안녕", "세상"});
  CHECK(words("مرحبا بالعالم؟") == Words{"مرحبا", "بالعالم", "؟"});
}

TEST_CASE("equal words have equal lookup forms, whatever their case and their composition") {
  CHECK(lookup("The") == lookup("the"));
  CHECK(lookup("\u00c9t\u00e9") == lookup("e\u0301te\u0301"));
  CHECK(lookup("STRASSE") == lookup("stra\u00dfe"));
  CHECK(lookup("ΣΊΣΥΦΟΣ") == lookup("σίσυφος"));
  CHECK(lookup("cat") != lookup("cats"));
  CHECK(tokenise("e\u0301")[0].text == "e\u0301");  // shown with its own bytes
}

TEST_CASE("bytes that are not UTF-8 are tokens of their own, and nothing else is lost") {
  CHECK(words("a\xff\xfe b") == Words{"a", "\xff", "\xfe", "b"});
  CHECK(words("\xc3") == Words{"\xc3"});
  CHECK(words("x\xed\xa0\x80y") == Words{"x", "\xed", "\xa0", "\x80", "y"});
  CHECK(words(std::string_view("a\0b", 3)) == Words{"a", "b"});
}

TEST_CASE("format characters that stand alone separate, those that belong to a cluster stay") {
  CHECK(words("a\u200bb \ufeffc") == Words{"a", "b", "c"});
  CHECK(words("\u0600123") == Words{"\u06001", "23"});
  CHECK(words("co\u00adoperate") == Words{"co\u00adoperate"});
}

TEST_CASE("counting tokens agrees with making them, on long and on strange text") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  std::string marks = "a";
  for (int i = 0; i < 20000; ++i) marks += "\u0301";
  std::string quotes(30000, '\'');
  for (const std::string& text : {all, marks, quotes, all + marks + all})
    CHECK(token_count(text) == static_cast<Index>(tokenise(text).size()));
  CHECK(token_count(marks) == 1);
}
