// Columns of text for a terminal.
#pragma once

#include <string>
#include <vector>

namespace headwise {

using TextRow = std::vector<std::string>;

// One line per row, indented by two: columns as wide as their widest cell, in characters, two spaces between them. After
// the first column, numbers, including sizes in bytes, are right-aligned.
std::string text_table(const std::vector<TextRow>& rows);

}  // namespace headwise
