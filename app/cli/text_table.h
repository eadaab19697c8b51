// Columns of text for a terminal.
#pragma once

#include <string>
#include <vector>

namespace headwise {

using TextRow = std::vector<std::string>;

// A line a row, set in by two: columns as wide as their widest cell, in characters, two spaces between them. Behind the first column
// numbers, sizes in bytes among them, stand to the right.
std::string text_table(const std::vector<TextRow>& rows);

}  // namespace headwise
