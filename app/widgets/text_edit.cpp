#include "app/widgets/text_edit.h"

#include <algorithm>

namespace headwise {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool is_continuation(std::string_view text, std::size_t at) {
  return at < text.size() && (byte_at(text, at) & 0xC0U) == 0x80U;
}

// Length that the first byte of a sequence announces; 1 for a byte that cannot begin one.
std::size_t announced_bytes(unsigned first) {
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 1;
}

bool is_blank(std::string_view text, std::size_t at) {
  return text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r';
}

bool erase_to(std::string& text, TextCursor& cursor, std::size_t to) {
  const std::size_t begin = std::min(cursor.at, to), end = std::max(cursor.at, to);
  text.erase(begin, end - begin);
  cursor.move(begin, false);
  return begin != end;
}

bool erase_selection(std::string& text, TextCursor& cursor) {
  const std::size_t begin = cursor.first();
  text.erase(begin, cursor.last() - begin);
  cursor.move(begin, false);
  return true;
}

}  // namespace

std::size_t character_bytes(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  const unsigned first = byte_at(text, at);
  const std::size_t bytes = announced_bytes(first);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text, at + i)) return 1;
  }
  if (bytes < 3) return bytes;
  // Overlong forms, surrogates and code points above U+10FFFF are invalid.
  const unsigned second = byte_at(text, at + 1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return wrong ? 1 : bytes;
}

std::size_t next_character(std::string_view text, std::size_t at) {
  return at + character_bytes(text, at);
}

std::size_t previous_character(std::string_view text, std::size_t at) {
  // The longest sequence that ends here; else the single byte before.
  for (std::size_t bytes = 4; bytes > 1; --bytes) {
    if (at >= bytes && character_bytes(text, at - bytes) == bytes) return at - bytes;
  }
  return at == 0 ? 0 : at - 1;
}

std::size_t next_word(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_blank(text, at)) ++at;
  while (at < text.size() && is_blank(text, at)) ++at;
  return at;
}

std::size_t previous_word(std::string_view text, std::size_t at) {
  while (at > 0 && is_blank(text, at - 1)) --at;
  while (at > 0 && !is_blank(text, at - 1)) --at;
  return at;
}

char32_t code_point(std::string_view text, std::size_t at) {
  const std::size_t bytes = character_bytes(text, at);
  const unsigned first = bytes == 0 ? 0xFFU : byte_at(text, at);
  if (bytes <= 1) return first < 0x80 ? first : 0xFFFDU;
  char32_t point = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) point = (point << 6U) | (byte_at(text, at + i) & 0x3FU);
  return point;
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto add = [&](char32_t byte) { text.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (code_point < 0x80) {
    add(code_point);
  } else if (code_point < 0x800) {
    add(0xC0 | (code_point >> 6));
    add(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    add(0xE0 | (code_point >> 12));
    add(0x80 | ((code_point >> 6) & 0x3F));
    add(0x80 | (code_point & 0x3F));
  } else {
    add(0xF0 | (code_point >> 18));
    add(0x80 | ((code_point >> 12) & 0x3F));
    add(0x80 | ((code_point >> 6) & 0x3F));
    add(0x80 | (code_point & 0x3F));
  }
}

void keep_inside(TextCursor& cursor, std::string_view text) {
  for (std::size_t* place : {&cursor.at, &cursor.anchor}) {
    *place = std::min(*place, text.size());
    while (*place > 0 && *place < text.size() && is_continuation(text, *place)) --*place;
  }
}

void insert_text(std::string& text, TextCursor& cursor, std::string_view inserted) {
  erase_selection(text, cursor);
  text.insert(cursor.at, inserted);
  cursor.move(cursor.at + inserted.size(), false);
}

bool erase_backward(std::string& text, TextCursor& cursor, bool word) {
  if (cursor.has_selection()) return erase_selection(text, cursor);
  return erase_to(text, cursor, word ? previous_word(text, cursor.at) : previous_character(text, cursor.at));
}

bool erase_forward(std::string& text, TextCursor& cursor, bool word) {
  if (cursor.has_selection()) return erase_selection(text, cursor);
  return erase_to(text, cursor, word ? next_word(text, cursor.at) : next_character(text, cursor.at));
}

std::vector<TextLine> wrap_lines(std::string_view text, float width,
                                 const std::function<float(char32_t)>& advance) {
  std::vector<TextLine> lines;
  TextLine line;
  std::size_t break_at = 0;  // after the last blank of this line; its beginning if it has none
  float used = 0.0f;         // width of what precedes `at`
  float used_at_break = 0.0f;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t next = next_character(text, at);
    if (text[at] == '\n') {
      line.end = next;
      lines.push_back(line);
      line.begin = break_at = next;
      used = used_at_break = 0.0f;
      at = next;
      continue;
    }
    const float step = advance(code_point(text, at));
    const bool blank = is_blank(text, at);
    // Blanks may hang over the edge; a word may not.
    if (!blank && used + step > width && at > line.begin) {
      const bool inside_word = break_at == line.begin;
      line.end = inside_word ? at : break_at;
      lines.push_back(line);
      used = inside_word ? 0.0f : used - used_at_break;
      line.begin = break_at = line.end;
      used_at_break = 0.0f;
    }
    used += step;
    at = next;
    if (blank) {
      break_at = at;
      used_at_break = used;
    }
  }
  line.end = text.size();
  lines.push_back(line);
  return lines;
}

std::size_t line_of(const std::vector<TextLine>& lines, std::size_t at) {
  const auto behind =
      std::upper_bound(lines.begin(), lines.end(), at,
                       [](std::size_t place, const TextLine& line) { return place < line.begin; });
  return behind == lines.begin() ? 0 : static_cast<std::size_t>(behind - lines.begin() - 1);
}

}  // namespace headwise
