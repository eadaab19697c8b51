// Matrices as tables for spreadsheets and scripts. A file is CSV as in RFC 4180 (comma, CRLF, quotes if
// needed), UTF-8 without a byte order mark, the same bytes under every locale.
//
// The first line holds the headings: the axes' names as `L\S` (rows\columns), then one heading per column.
// Every further line is a row: its heading, then its numbers. For several matrices (one per head) the lines
// follow each other under one line of headings, and a leading column, named after that axis, identifies them.
//
// Numbers have the fewest digits that read back to the same bits (f32 as f32, f64 as f64); else `nan`, `inf`,
// `-inf`, which Python, R and pandas read. Headings are labels, or indices if there are none. A label that a
// spreadsheet would take for a formula (it begins with = + - @, a tab or a carriage return)
// gets a leading apostrophe.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/export/heatmap.h"

namespace headwise {

struct TableSpec {
  MatrixView values;
  std::string row_axis, col_axis;                   // "L", "S"; the row's may be empty, for a vector
  std::vector<std::string> row_labels, col_labels;  // empty: indices
};

// Receives the text in pieces of at least a line, so that a large table is never in memory as a whole.
using TextSink = std::function<void(std::string_view)>;

void write_csv(const TableSpec& table, const TextSink& sink);
// The same for a clipboard: tabs between the fields, lines end in LF,
// a tab or line break in a label becomes a blank.
void write_tsv(const TableSpec& table, const TextSink& sink);
// `axis` names the leading column ("head"); `indices` its entries, one per table. All tables must have the
// same number of columns; the headings are those of the first. Throws Error(usage) if they do not agree.
void write_csv(const std::vector<TableSpec>& tables, const std::string& axis,
               const std::vector<std::string>& indices, const TextSink& sink);

// A text as a field of such a file: quoted if needed, and no formula.
std::string csv_field(const std::string& text);

}  // namespace headwise
