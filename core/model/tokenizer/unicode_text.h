// The Unicode support that tokenizers need: code points and their classes, canonical forms, and a text that
// remembers where each of its bytes came from. Tables: utf8proc (Unicode 14; `tokenizers` has 16 for split
// patterns and normal forms and 8 for BERT, so it treats some 600 of the newer marks and signs differently).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

// A code point and its length in bytes; value −1 and one byte if there is no well-formed UTF-8.
struct CodePoint {
  std::int32_t value = -1;
  std::size_t bytes = 1;
};
// The code point at byte `at` of the text; at < text.size().
CodePoint code_point_at(std::string_view text, std::size_t at);
std::size_t code_point_count(std::string_view text);
void append_code_point(std::string& text, std::int32_t value);

// \p{L}, \p{N} and \s as in the split patterns. Anything that is not UTF-8 is `other`.
enum class CharacterClass { letter, number, space, other };
CharacterClass character_class(std::int32_t value);

bool is_white_space(std::int32_t value);  // Unicode's White_Space
// as in BERT: P*, and every ASCII symbol that is not a letter, digit or space
bool is_punctuation(std::int32_t value);
bool is_control(std::int32_t value);  // as in BERT: Cc, Cf, Co, Cs; except tab, line feed and carriage return
bool is_nonspacing_mark(std::int32_t value);  // Mn
bool is_mark(std::int32_t value);             // Mn, Mc, Me
bool is_word_character(std::int32_t value);   // like \w: letters, marks, decimal digits, connectors
bool is_cjk_ideograph(std::int32_t value);    // the blocks that BERT puts spaces around

// Where a byte came from: [begin, end) of the original.
struct ByteRange {
  std::uint32_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

// A text derived from another one. Either a view of the original, unchanged,
// or its own bytes with a range for each.
class AlignedText {
 public:
  AlignedText() = default;
  // [begin, begin + text.size()) of the unchanged original, which must outlive it.
  AlignedText(std::string_view text, std::size_t begin) : view_(text), begin_(begin), own_(false) {}

  std::string_view text() const { return own_ ? std::string_view(made_) : view_; }
  // Where [begin, end) of text() came from; begin < end ≤ text().size().
  ByteRange origin(std::size_t begin, std::size_t end) const;

  // Only for a text constructed empty.
  void append(std::int32_t value, ByteRange from);
  void append(std::string_view bytes, ByteRange from);

 private:
  std::string_view view_;
  std::size_t begin_ = 0;
  bool own_ = true;
  std::string made_;
  std::vector<ByteRange> ranges_;  // one per byte of made_
};

// A code point of a text that is being normalised.
struct AlignedCodePoint {
  std::int32_t value = 0;
  ByteRange from;
};

// The end of the grapheme cluster that begins at byte `begin`; that of a byte that is not UTF-8 is itself.
std::size_t cluster_end(std::string_view text, std::size_t begin);
// NFD, or NFKD if `compatible`, with marks in canonical order. Takes O(n·log n) time, whatever the input.
std::vector<AlignedCodePoint> decomposed(const std::vector<AlignedCodePoint>& points, bool compatible = false);
// NFC. Bytes that are not UTF-8 stay as they are.
AlignedText composed(const AlignedText& text);
// Both code points of the lower case (Rust's char::to_lowercase); the second is 0 except for İ,
// which is i and U+0307.
std::array<std::int32_t, 2> lower_case(std::int32_t value);

}  // namespace headwise
