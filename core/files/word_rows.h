// Words that are kept as text in files of assets/, and embedded: tables, and lists. A line that begins with #
// is a comment, one that begins with a blank continues the line before it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace headwise {

struct WordRow {
  std::string_view key, value;
};

// The words of a text, which blanks and line ends separate.
std::vector<std::string_view> words_in(std::string_view text);

// The parts of a text, which | separates, without the blanks around them; at least one.
std::vector<std::string_view> parts_in(std::string_view text);

// The words of a list, without its comments.
std::vector<std::string_view> word_list(std::span<const unsigned char> bytes);

// The rows of a table, a line "KEY = VALUE" each, in the order of the file; a value may be empty, or go on
// over several. They refer to its bytes. Throws Error(input) at a line that is no row, and at a key that an
// earlier row has.
std::vector<WordRow> word_rows(std::span<const unsigned char> bytes, std::string_view file);

}  // namespace headwise
