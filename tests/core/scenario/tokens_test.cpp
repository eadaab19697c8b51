#include "core/scenario/embeddings.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace headwise;

namespace {

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
  for (const std::string& text : {all, marks, quotes, all + marks + all}) {
    CHECK(token_count(text) == static_cast<Index>(tokenise(text).size()));
  }
  CHECK(token_count(marks) == 1);
}
