#include <doctest/doctest.h>

#include "app/widgets/text_edit.h"

using namespace headwise;

namespace {

// Every character one unit wide.
float one(char32_t) {
  return 1.0f;
}

std::vector<std::string> wrapped(const std::string& text, float width) {
  std::vector<std::string> lines;
  for (const TextLine& line : wrap_lines(text, width, one))
    lines.push_back(text.substr(line.begin, line.end - line.begin));
  return lines;
}

}  // namespace

TEST_CASE("a character is a whole UTF-8 sequence, or one byte that is none") {
  const std::string text = "aé→😀\xff\xe2\x86z";
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size(); at = next_character(text, at)) starts.push_back(at);
  CHECK(starts == std::vector<std::size_t>{0, 1, 3, 6, 10, 11, 12, 13});
  std::vector<std::size_t> back;
  for (std::size_t at = text.size(); at > 0; back.push_back(at)) at = previous_character(text, at);
  CHECK(back == std::vector<std::size_t>(starts.rbegin(), starts.rend()));
  CHECK(code_point(text, 6) == U'😀');
  CHECK(code_point(text, 10) == U'\uFFFD');
}

TEST_CASE("overlong forms, surrogates and numbers beyond Unicode are single bytes") {
  for (const char* wrong :
       {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80"}) {
    CHECK(character_bytes(wrong, 0) == 1);
  }
  CHECK(character_bytes("", 0) == 0);
  CHECK(character_bytes("\xe2\x86", 0) == 1);
}

TEST_CASE("code points become the bytes that they were read from") {
  for (const char* text : {"a", "é", "→", "😀", "\U0010FFFF"}) {
    std::string bytes;
    append_utf8(bytes, code_point(text, 0));
    CHECK(bytes == text);
  }
}

TEST_CASE("typing beside an emoji and a broken byte leaves their bytes alone") {
  std::string text =
      "a😀\xff"
      "b";
  TextCursor cursor{1, 1};
  insert_text(text, cursor, "é");
  CHECK(text ==
        "aé😀\xff"
        "b");
  cursor = {text.size(), text.size()};
  CHECK(erase_backward(text, cursor));
  CHECK(text == "aé😀\xff");
  CHECK(erase_backward(text, cursor));
  CHECK(text == "aé😀");
  CHECK(erase_backward(text, cursor));
  CHECK(text == "aé");
  cursor = {0, 0};
  CHECK_FALSE(erase_backward(text, cursor));
  CHECK(erase_forward(text, cursor));
  CHECK(text == "é");
}

TEST_CASE("a selection is replaced by what is typed and removed by Backspace") {
  std::string text = "one two three";
  TextCursor cursor{7, 4};
  insert_text(text, cursor, "2");
  CHECK(text == "one 2 three");
  CHECK(cursor.at == 5);
  CHECK_FALSE(cursor.has_selection());
  cursor = {0, 4};
  CHECK(erase_forward(text, cursor));
  CHECK(text == "2 three");
}

TEST_CASE("words begin behind blanks") {
  const std::string text = "one  two\nthree";
  CHECK(next_word(text, 0) == 5);
  CHECK(next_word(text, 5) == 9);
  CHECK(next_word(text, 9) == text.size());
  CHECK(previous_word(text, text.size()) == 9);
  CHECK(previous_word(text, 9) == 5);
  CHECK(previous_word(text, 4) == 0);
}

TEST_CASE("a cursor is put on a character of a text that was changed elsewhere") {
  TextCursor cursor{5, 50};
  keep_inside(cursor, "a→b");
  CHECK(cursor.at == 5);
  CHECK(cursor.anchor == 5);
  cursor = {2, 3};
  keep_inside(cursor, "a→b");
  CHECK(cursor.at == 1);
  CHECK(cursor.anchor == 1);
  keep_inside(cursor, "");
  CHECK(cursor.at == 0);
}

TEST_CASE("lines wrap at blanks, which hang over the edge, and inside words that are too long") {
  CHECK(wrapped("the cat sat", 7) == std::vector<std::string>{"the cat ", "sat"});
  CHECK(wrapped("the cat sat", 6) == std::vector<std::string>{"the ", "cat ", "sat"});
  CHECK(wrapped("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrapped("a abcdefgh", 3) == std::vector<std::string>{"a ", "abc", "def", "gh"});
  CHECK(wrapped("", 3) == std::vector<std::string>{""});
  CHECK(wrapped("a\n\nb\n", 3) == std::vector<std::string>{"a\n", "\n", "b\n", ""});
  CHECK(wrapped("→→→→", 2) == std::vector<std::string>{"→→", "→→"});
}

TEST_CASE("every byte belongs to exactly one line, whatever the width") {
  const std::string text = "The animal didn't cross 😀 the\n street\xff because it   was too tired ";
  for (float width = 0.0f; width < 40.0f; width += 0.5f) {
    std::size_t end = 0;
    for (const TextLine& line : wrap_lines(text, width, one)) {
      CHECK(line.begin == end);
      end = line.end;
    }
    CHECK(end == text.size());
  }
}

TEST_CASE("a cursor stands on the line that begins at it") {
  const std::string text = "the cat\nsat";
  const std::vector<TextLine> lines = wrap_lines(text, 5, one);
  REQUIRE(lines.size() == 3);
  CHECK(line_of(lines, 0) == 0);
  CHECK(line_of(lines, 4) == 1);
  CHECK(line_of(lines, 7) == 1);
  CHECK(line_of(lines, 8) == 2);
  CHECK(line_of(lines, text.size()) == 2);
}
