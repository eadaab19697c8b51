// Words that are kept as text in files of assets/, and embedded: tables, and lists. A line that begins with #
// is a comment, one that begins with a blank continues the line before it.
#pragma once

#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/tensor/error.h"

namespace headwise {

struct WordRow {
  std::string_view key, value;
};

// The words of a text, which blanks and line ends separate.
std::vector<std::string_view> words_in(std::string_view text);

// The parts of a text, which | separates, without the blanks around them; at least one.
std::vector<std::string_view> parts_in(std::string_view text);

// The words of a list, without its comments.
std::vector<std::string_view> word_list(std::string_view text);

// The rows of a table, a line "KEY = VALUE" each, in the order of the file; a value may be empty, or go on
// over several. They refer to its bytes. Throws Error(input) at a line that is no row, and at a key that an
// earlier row has.
std::vector<WordRow> word_rows(std::string_view text, std::string_view file);

// Records as rows of a table: each word says one thing of a record, by itself or as
// WORD=VALUE.

template <class Record>
struct FieldWord {
  std::string_view word;
  bool (*take)(Record&, std::string_view value);  // false if the value does not fit; it is empty without "="
};

// What a FieldWord takes: the value of this member; a list gets one more, and what is true or false becomes
// true.
template <auto member>
inline constexpr auto field = [](auto& record, std::string_view value) {
  using Value = std::remove_reference_t<decltype(record.*member)>;
  if constexpr (std::is_same_v<Value, bool>)
    return record.*member = true, value.empty();
  else if constexpr (std::is_same_v<Value, std::string_view>)
    return record.*member = value, !value.empty();
  else if constexpr (std::is_same_v<Value, std::vector<std::string_view>>)
    return (record.*member).push_back(value), !value.empty();
  else {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), record.*member);
    return error == std::errc() && end == value.data() + value.size();
  }
};

// Or one choice of this member.
template <auto member, auto choice>
inline constexpr auto chosen = [](auto& record, std::string_view value) {
  record.*member = choice;
  return value.empty();
};

// Reads these words into the record. Throws Error(input), which names the file and the row, at a word that
// says nothing.
template <class Record>
void read_fields(std::string_view words, Record& record,
                 std::type_identity_t<std::span<const FieldWord<Record>>> known, std::string_view file,
                 std::string_view row) {
  for (const std::string_view word : words_in(words)) {
    const std::size_t sign = std::min(word.find('='), word.size());
    const auto found = std::ranges::find(known, word.substr(0, sign), &FieldWord<Record>::word);
    if (found == known.end() || !found->take(record, word.substr(std::min(sign + 1, word.size()))))
      throw Error(ExitStatus::input, {std::string(file) + ": " + std::string(row), "a word says nothing",
                                      std::string(word), "", ""});
  }
}

}  // namespace headwise
