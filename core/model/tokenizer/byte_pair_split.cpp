#include "core/model/tokenizer/byte_pair_split.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/model/tokenizer/unicode_text.h"

namespace headwise {
namespace {

struct KnownPattern {
  std::string_view regex;
  SplitPattern pattern;
};
constexpr std::array<KnownPattern, 5> known_patterns{{
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", SplitPattern::gpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", SplitPattern::gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     SplitPattern::llama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     SplitPattern::qwen2},
    {R"( ?[^(\s|[.,!?…。，、।۔،])]+)", SplitPattern::bloom},
}};

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

// A position in a text, and the character there.
class Cursor {
 public:
  Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) { look(); }

  std::size_t at() const { return at_; }
  bool done() const { return at_ >= text_.size(); }
  std::int32_t value() const { return point_.value; }
  bool is(CharacterClass wanted) const { return !done() && class_ == wanted; }
  bool is_line_end() const { return !done() && (point_.value == '\r' || point_.value == '\n'); }
  void step() {
    at_ += point_.bytes;
    look();
  }
  // Skips at most `most` characters of the class; returns how many there were.
  std::size_t skip(CharacterClass wanted, std::size_t most = no_limit) {
    std::size_t count = 0;
    for (; count < most && is(wanted); ++count) step();
    return count;
  }

 private:
  void look() {
    if (done()) return;
    point_ = code_point_at(text_, at_);
    class_ = character_class(point_.value);
  }

  std::string_view text_;
  std::size_t at_;
  CodePoint point_;
  CharacterClass class_ = CharacterClass::other;
};

// 's|'t|'re|'ve|'m|'ll|'d: its length in bytes at `at`, or 0.
std::size_t contraction(std::string_view text, std::size_t at, bool ignore_case) {
  if (text[at] != '\'') return 0;
  const auto letter = [&](std::size_t i) {
    const char c = i < text.size() ? text[i] : '\0';
    return ignore_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const char first = letter(at + 1), second = letter(at + 2);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if ((first == 'r' || first == 'v') && second == 'e') return 3;
  if (first == 'l' && second == 'l') return 3;
  // The long s counts as an s if case is ignored.
  constexpr std::string_view long_s = "\u017F";
  return ignore_case && text.substr(at + 1).starts_with(long_s) ? 1 + long_s.size() : 0;
}

// \s+(?!\S)|\s+: a run of white space; before other text without its last character, unless that is the whole run.
std::size_t white_space_end(std::string_view text, std::size_t at) {
  Cursor cursor(text, at);
  std::size_t last = at;
  while (cursor.is(CharacterClass::space)) {
    last = cursor.at();
    cursor.step();
  }
  return cursor.done() || last == at ? cursor.at() : last;
}

// \s*[\r\n]+: a run of white space up to its last line end; `at` if there is none.
std::size_t line_ends_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  for (Cursor cursor(text, at); cursor.is(CharacterClass::space);) {
    const bool line_end = cursor.is_line_end();
    cursor.step();
    if (line_end) end = cursor.at();
  }
  return end;
}

std::size_t gpt2_end(std::string_view text, std::size_t at) {
  if (const std::size_t bytes = contraction(text, at, false); bytes > 0) return at + bytes;
  Cursor cursor(text, at);
  if (cursor.value() == ' ') cursor.step();
  for (const CharacterClass wanted : {CharacterClass::letter, CharacterClass::number, CharacterClass::other}) {
    if (cursor.skip(wanted) > 0) return cursor.at();
  }
  return white_space_end(text, at);
}

std::size_t llama3_end(std::string_view text, std::size_t at, std::size_t most_digits) {
  if (const std::size_t bytes = contraction(text, at, true); bytes > 0) return at + bytes;
  Cursor letters(text, at);
  if (!letters.is(CharacterClass::letter) && !letters.is(CharacterClass::number) && !letters.is_line_end())
    letters.step();
  if (letters.skip(CharacterClass::letter) > 0) return letters.at();

  Cursor cursor(text, at);
  if (cursor.skip(CharacterClass::number, most_digits) > 0) return cursor.at();
  if (cursor.value() == ' ') cursor.step();
  if (cursor.skip(CharacterClass::other) > 0) {
    while (cursor.is_line_end()) cursor.step();
    return cursor.at();
  }
  const std::size_t lines = line_ends_end(text, at);
  return lines > at ? lines : white_space_end(text, at);
}

std::size_t digits_end(std::string_view text, std::size_t at) {
  Cursor cursor(text, at);
  if (cursor.skip(CharacterClass::number, 1) > 0) return cursor.at();
  while (!cursor.done() && !cursor.is(CharacterClass::number)) cursor.step();
  return cursor.at();
}

// Neither part of BLOOM's words nor white space: the signs in its pattern, its parentheses and its bar.
bool is_bloom_sign(std::int32_t value) {
  constexpr std::array<std::int32_t, 14> signs{'(',    ')',    '|',    '.',    ',',    '!',    '?',
                                               0x2026, 0x3002, 0xFF0C, 0x3001, 0x0964, 0x06D4, 0x060C};
  return std::ranges::find(signs, value) != signs.end();
}

// A match of the pattern, or everything before the next one.
std::size_t bloom_end(std::string_view text, std::size_t at) {
  const auto in_word = [](const Cursor& cursor) {
    return !cursor.done() && !cursor.is(CharacterClass::space) && !is_bloom_sign(cursor.value());
  };
  const auto begins_word = [&](Cursor cursor) {
    if (!cursor.done() && cursor.value() == ' ') cursor.step();
    return in_word(cursor);
  };
  Cursor cursor(text, at);
  if (begins_word(cursor)) {
    do cursor.step();
    while (in_word(cursor));
  } else {
    do cursor.step();
    while (!cursor.done() && !begins_word(cursor));
  }
  return cursor.at();
}

}  // namespace

std::optional<SplitPattern> known_split_pattern(std::string_view regex) {
  for (const KnownPattern& known : known_patterns) {
    if (known.regex == regex) return known.pattern;
  }
  return std::nullopt;
}

std::size_t split_word_end(SplitPattern pattern, std::string_view text, std::size_t at) {
  switch (pattern) {
    case SplitPattern::gpt2:
      return gpt2_end(text, at);
    case SplitPattern::llama3:
      return llama3_end(text, at, 3);
    case SplitPattern::qwen2:
      return llama3_end(text, at, 1);
    case SplitPattern::bloom:
      return bloom_end(text, at);
    case SplitPattern::digits:
      return digits_end(text, at);
    case SplitPattern::none:
      break;
  }
  return text.size();
}

}  // namespace headwise
