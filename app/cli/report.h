// What a command reports, declared once and printed as text or as JSON.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

using Json = nlohmann::ordered_json;

// A value under its key in JSON, and its words in text.
struct Cell {
  std::string key;  // empty: only in text
  Json value = {};
  std::optional<std::string> words = {};  // none: only in JSON

  Cell(const char* text) : words(text) {}
  Cell(std::string text) : words(std::move(text)) {}
  Cell(std::string name, Json number) : key(std::move(name)), value(std::move(number)) {}
  Cell(std::string name, Json number, std::string text)
      : key(std::move(name)), value(std::move(number)), words(std::move(text)) {}
};

Cell text_cell(std::string key, const std::string& text);           // on one line
Cell count_cell(std::string key, Index count);                      // "65,536"
Cell bytes_cell(std::string key, Index bytes);                      // "1.5 MiB"
Cell shape_cell(std::string key, const std::vector<Index>& sizes);  // "(2,3)"
// `format` is fmt's; a missing number is null and "-".
Cell number_cell(std::string key, std::optional<double> number, const char* format);
Cell integer_cell(std::string key, Index number);  // "65536"

// "NaN", "-inf" and "inf" as text: JSON has no such numbers.
Json number_json(double value);

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

struct Row {
  std::vector<Cell> cells;
  std::string path = {};  // the object of the cells: "gradients/query"; empty: that of the report

  Row(std::initializer_list<Cell> of, std::string object = {}) : cells(of), path(std::move(object)) {}
};

struct Report {
  std::string text;
  Json json = Json::object();

  // The pattern has a {} for each cell with words.
  void add_line(std::string_view pattern, const Row& row);
  // A line for each, of at most `most_bytes`.
  void add_lines(const std::string& key, const std::vector<std::string>& lines,
                 std::string_view pattern = "  {}\n", std::size_t most_bytes = 300);
  void add_sentences(const std::vector<std::string>& sentences) {  // of our own: whole
    add_lines("sentences", sentences, "  {}\n", std::string::npos);
  }
  // As a text_table.
  void add_rows(const std::vector<Row>& rows);
  // The same, but each row with a key is an object in a list; `last` is a row of the report itself.
  void add_list(const std::string& key, const std::vector<Row>& rows, const Row& last = {});
  // A line for each row, which is an object in a list if it has a key.
  void add_list(const std::string& key, std::string_view pattern, const std::vector<Row>& rows);
  void add_section(const std::string& key, const Report& section);

  std::string printed(bool as_json) const;
};

using TextRow = std::vector<std::string>;

// One line per row: columns as wide as their widest cell, in characters, two spaces between them. With
// `numbers_right`, numbers after the first column, including sizes in bytes, are right-aligned.
std::vector<std::string> aligned(const std::vector<TextRow>& rows, bool numbers_right = false);

// The same with numbers on the right, indented by two.
std::string text_table(const std::vector<TextRow>& rows);

// In characters: shapes contain · and ′, names of many tensors ….
std::size_t text_width(std::string_view text);

}  // namespace headwise
