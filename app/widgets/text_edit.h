// Text editing, independent of the screen. ImGui 1.86 edits 16-bit characters and would lose an emoji, or a
// byte that is not UTF-8, as soon as a letter next to it is typed; here a text is its bytes,
// and only what is edited changes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

// Bytes of the character that starts at `at`: a well-formed UTF-8 sequence, or a single invalid byte.
// 0 at the end.
std::size_t character_bytes(std::string_view text, std::size_t at);
std::size_t next_character(std::string_view text, std::size_t at);
std::size_t previous_character(std::string_view text, std::size_t at);
// Starts of words, as used by Ctrl+arrow.
std::size_t next_word(std::string_view text, std::size_t at);
std::size_t previous_word(std::string_view text, std::size_t at);
// The character's code point, for fonts; U+FFFD for a byte that is not UTF-8.
char32_t code_point(std::string_view text, std::size_t at);
void append_utf8(std::string& text, char32_t code_point);

// A cursor, and the other end of the selection; both are starts of characters or the end of the text.
struct TextCursor {
  std::size_t at = 0;
  std::size_t anchor = 0;

  bool has_selection() const { return at != anchor; }
  std::size_t first() const { return at < anchor ? at : anchor; }
  std::size_t last() const { return at < anchor ? anchor : at; }
  void move(std::size_t to, bool selecting) {
    at = to;
    if (!selecting) anchor = to;
  }
};

// Moves the cursor onto a character of this text, after the text was changed elsewhere.
void keep_inside(TextCursor& cursor, std::string_view text);
// Replaces the selection; the cursor ends up after the inserted text.
void insert_text(std::string& text, TextCursor& cursor, std::string_view inserted);
// Erases the selection, or the character before or after the cursor. False if there is nothing to erase.
bool erase_backward(std::string& text, TextCursor& cursor, bool word = false);
bool erase_forward(std::string& text, TextCursor& cursor, bool word = false);

// One line on the screen: bytes [begin, end), including the blanks and the newline that end it.
struct TextLine {
  std::size_t begin = 0, end = 0;
  friend bool operator==(const TextLine&, const TextLine&) = default;
};
// Wrapped at blanks, or inside a word wider than a line; never empty. `advance` returns a character's width.
std::vector<TextLine> wrap_lines(std::string_view text, float width,
                                 const std::function<float(char32_t)>& advance);
// The line that contains a cursor; after the newline that ends the text, the last one.
std::size_t line_of(const std::vector<TextLine>& lines, std::size_t at);

}  // namespace headwise
