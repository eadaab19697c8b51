// What SentencePiece's two kinds of tokenizer have alike: "▁" for spaces, and pieces for single bytes.
#pragma once

#include <string>
#include <string_view>

#include "core/model/tokenizer/unicode_text.h"

namespace headwise {

inline constexpr std::string_view space_mark = "\xE2\x96\x81";  // ▁

std::string byte_piece(int byte);  // "<0xE2>"
// The byte that "<0xE2>" represents, or −1.
int represented_byte(std::string_view piece);

// Where a "▁" is put before the text, as if it began with a space.
enum class SpaceBefore {
  never,
  // before every section between added tokens, whatever it begins with (the normalizer Prepend)
  every_section,
  every_word,  // the same, but not before a section that begins with a space (Metaspace, "always")
  first_word,  // the same, but only at the beginning of the text (Metaspace, "first")
};

// [begin, end) of a text with its spaces as marks, and one before it for every_word and first_word.
AlignedText with_marks(const AlignedText& text, std::size_t begin, std::size_t end, SpaceBefore before);

// Appends a piece with its marks as spaces, or without any.
void append_unmarked(std::string& text, std::string_view piece, bool drops_marks = false);

}  // namespace headwise
