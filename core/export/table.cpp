#include "core/export/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/export/label_text.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

struct Dialect {
  char separator;
  std::string_view line_end;
  bool one_line;  // a label's tabs and line breaks become blanks
};
constexpr Dialect csv{',', "\r\n", false}, tsv{'\t', "\n", true};

// Quotes a field as in RFC 4180. What is not UTF-8 is replaced, so that the file as a whole is UTF-8.
std::string quoted_field(const std::string& label, const Dialect& dialect) {
  std::string text = valid_utf8(label);
  if (dialect.one_line)
    std::ranges::replace_if(
        text, [](char c) { return c == '\t' || c == '\r' || c == '\n'; }, ' ');
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos)
    text.insert(0, 1, '\'');
  if (text.find_first_of(std::string("\"\r\n") + dialect.separator) == std::string::npos &&
      (text.empty() || (text.front() != ' ' && text.back() != ' '))) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string heading(const std::vector<std::string>& labels, Index index, const Dialect& dialect) {
  const auto i = static_cast<std::size_t>(index);
  return i < labels.size() ? quoted_field(labels[i], dialect) : std::to_string(index);
}

void append_number(std::string& line, const Tensor& tensor, Index flat) {
  const double value = tensor.flat(flat);
  if (tensor.dtype() == DType::i64) {  // not through a double, which rounds above 2^53
    line += fmt::format("{}", tensor.values<std::int64_t>()[static_cast<std::size_t>(flat)]);
  } else if (std::isnan(value)) {
    line += "nan";
  } else if (std::isinf(value)) {
    line += value < 0 ? "-inf" : "inf";
  } else if (tensor.dtype() == DType::f32) {
    line += fmt::format("{}", static_cast<float>(value));
  } else {
    line += fmt::format("{}", value);
  }
}

void write_rows(const TableSpec& table, const std::string& lead, const Dialect& dialect, const TextSink& sink) {
  std::string line;
  for (Index row = 0; row < table.values.rows; ++row) {
    line = lead + heading(table.row_labels, row, dialect);
    for (Index col = 0; col < table.values.cols; ++col) {
      line += dialect.separator;
      append_number(line, *table.values.tensor, table.values.flat(row, col));
    }
    line += dialect.line_end;
    sink(line);
  }
}

void write_headings(const TableSpec& table, const std::string& lead, const Dialect& dialect,
                    const TextSink& sink) {
  std::string line =
      lead +
      quoted_field(table.row_axis.empty() ? table.col_axis : table.row_axis + "\\" + table.col_axis, dialect);
  for (Index col = 0; col < table.values.cols; ++col)
    line += dialect.separator + heading(table.col_labels, col, dialect);
  line += dialect.line_end;
  sink(line);
}

}  // namespace

void write_csv(const TableSpec& table, const TextSink& sink) {
  write_headings(table, "", csv, sink);
  write_rows(table, "", csv, sink);
}

void write_tsv(const TableSpec& table, const TextSink& sink) {
  write_headings(table, "", tsv, sink);
  write_rows(table, "", tsv, sink);
}

void write_csv(const std::vector<TableSpec>& tables, const std::string& axis,
               const std::vector<std::string>& indices, const TextSink& sink) {
  if (indices.size() != tables.size())
    throw Error(ExitStatus::usage,
                {"table", "the leading column does not name the tables one by one",
                 fmt::format("{} names", indices.size()), fmt::format("{}", tables.size()), ""});
  for (const TableSpec& table : tables)
    if (table.values.cols != tables.front().values.cols)
      throw Error(ExitStatus::usage,
                  {"table", "the matrices are not equally wide", fmt::format("{} columns", table.values.cols),
                   fmt::format("{} as in the first", tables.front().values.cols), ""});
  if (tables.empty()) return;
  write_headings(tables.front(), quoted_field(axis, csv) + ",", csv, sink);
  for (std::size_t i = 0; i < tables.size(); ++i)
    write_rows(tables[i], quoted_field(indices[i], csv) + ",", csv, sink);
}

std::string csv_field(const std::string& text) {
  return quoted_field(text, csv);
}

}  // namespace headwise
