#include "core/files/word_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/files/input_file.h"

namespace headwise {
namespace {

constexpr std::string_view blanks = " \n";

// Calls `take` with each line that is neither empty nor a comment, together with those that continue it, and
// its number.
template <class Take>
void each_line(std::string_view text, Take take) {
  std::size_t number = 1;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    while (text.substr(end).starts_with("\n ")) end = std::min(text.find('\n', end + 1), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (!line.empty() && line.front() != '#') take(line, number);
    number += static_cast<std::size_t>(std::ranges::count(line, '\n')) + 1;
    at = end + 1;
  }
}

}  // namespace

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(blanks); at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(blanks, end);
  }
  return words;
}

std::vector<std::string_view> parts_in(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const std::size_t first = std::min(part.find_first_not_of(blanks), part.size());
    parts.push_back(part.substr(first, part.find_last_not_of(blanks) + 1 - first));
    at = end + 1;
  }
  return parts;
}

std::vector<std::string_view> word_list(std::string_view text) {
  std::vector<std::string_view> words;
  each_line(text, [&](std::string_view line, std::size_t) {
    for (const std::string_view word : words_in(line)) words.push_back(word);
  });
  return words;
}

std::vector<WordRow> word_rows(std::string_view text, std::string_view file) {
  std::vector<WordRow> rows;
  std::set<std::string_view> keys;
  each_line(text, [&](std::string_view line, std::size_t number) {
    const auto refuse = [&](const char* what) {
      refuse_input(fmt::format("{}: line {}", file, number), what, std::string(line), "KEY = VALUE");
    };
    constexpr std::string_view sign = " =";
    std::size_t at = line.find(sign), value = at + sign.size();
    while (at != line.npos && value < line.size() && blanks.find(line[value]) == blanks.npos)
      at = line.find(sign, value), value = at + sign.size();
    if (at == line.npos || at == 0) refuse("this is no row of the table");
    if (!keys.insert(line.substr(0, at)).second) refuse("an earlier row has this key");
    rows.push_back({line.substr(0, at), line.substr(std::min(value + 1, line.size()))});
  });
  return rows;
}

}  // namespace headwise
