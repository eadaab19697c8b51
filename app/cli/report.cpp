#include "app/cli/report.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/files/json_text.h"
#include "core/lessons/operation_counts.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

bool is_number(const std::string& cell) {
  return !cell.empty() && cell[0] >= '0' && cell[0] <= '9' && cell.find("×") == std::string::npos;
}

TextRow words_of(const Row& row) {
  TextRow words;
  for (const Cell& cell : row.cells)
    if (cell.words) words.push_back(*cell.words);
  return words;
}

void add_values(const Row& row, Json& object) {
  for (const Cell& cell : row.cells)
    if (!cell.key.empty()) object[cell.key] = cell.value;
}

}  // namespace

Cell text_cell(std::string key, const std::string& text) {
  return {std::move(key), text, one_line(text)};
}

Json number_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "NaN" : value < 0 ? "-inf" : "inf";
}

Cell count_cell(std::string key, Index count) {
  return {std::move(key), count, count_text(count)};
}

Cell bytes_cell(std::string key, Index bytes) {
  return {std::move(key), bytes, bytes_text(bytes)};
}

Cell shape_cell(std::string key, const std::vector<Index>& sizes) {
  return {std::move(key), sizes, fmt::format("({})", join(sizes, ","))};
}

Cell number_cell(std::string key, std::optional<double> number, const char* format) {
  if (!number) return {std::move(key), nullptr, "-"};
  return {std::move(key), *number, fmt::format(fmt::runtime(format), *number)};
}

Cell integer_cell(std::string key, Index number) {
  return {std::move(key), number, std::to_string(number)};
}

void Report::add_line(std::string_view pattern, const Row& row) {
  fmt::dynamic_format_arg_store<fmt::format_context> words;
  for (std::string& word : words_of(row)) words.push_back(std::move(word));
  text += fmt::vformat(pattern, words);
  add_values(row, json);
}

void Report::add_lines(const std::string& key, const std::vector<std::string>& lines,
                       std::string_view pattern, std::size_t most_bytes) {
  json[key] = lines;
  for (const std::string& line : lines) add_line(pattern, {one_line(line, most_bytes)});
}

void Report::add_rows(const std::vector<Row>& rows) {
  std::vector<TextRow> table;
  for (const Row& row : rows) {
    if (TextRow words = words_of(row); !words.empty()) table.push_back(std::move(words));
    add_values(row, row.path.empty() ? json : json[Json::json_pointer("/" + row.path)]);
  }
  text += text_table(table);
}

void Report::add_list(const std::string& key, const std::vector<Row>& rows, const Row& last) {
  json[key] = Json::array();
  std::vector<Row> placed = rows;
  for (Row& row : placed)
    if (std::ranges::any_of(row.cells, [](const Cell& cell) { return !cell.key.empty(); }))
      row.path = key + "/-";
  placed.push_back(last);
  add_rows(placed);
}

void Report::add_list(const std::string& key, std::string_view pattern, const std::vector<Row>& rows) {
  json[key] = Json::array();
  for (const Row& row : rows) {
    Report one;
    one.add_line(pattern, row);
    text += one.text;
    if (!one.json.empty()) json[key].push_back(std::move(one.json));
  }
}

void Report::add_section(const std::string& key, const Report& section) {
  text += section.text;
  json[key] = section.json;
}

std::string Report::printed(bool as_json) const {
  // Names in a file need not be UTF-8; JSON has to be.
  return as_json ? json_text(json, {.indent = 2, .replaces_bytes = true}) + "\n" : text;
}

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<std::string> aligned(const std::vector<TextRow>& rows, bool numbers_right) {
  std::vector<std::size_t> widths;
  for (const TextRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], text_width(row[c]));
  }
  std::vector<std::string> lines;
  for (const TextRow& row : rows) {
    std::string& line = lines.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string gap(widths[c] - text_width(row[c]), ' ');
      line += (numbers_right && c > 0 && is_number(row[c]) ? gap + row[c] : row[c] + gap) + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
  }
  return lines;
}

std::string text_table(const std::vector<TextRow>& rows) {
  std::string text;
  for (const std::string& line : aligned(rows, true)) text += "  " + line + "\n";
  return text;
}

}  // namespace headwise
