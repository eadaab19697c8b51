#include "app/cli/text_table.h"

#include <algorithm>

namespace headwise {
namespace {

// Shapes contain · and ′, names of many tensors ….
std::size_t characters_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

bool is_number(const std::string& cell) {
  return !cell.empty() && cell[0] >= '0' && cell[0] <= '9' && cell.find("×") == std::string::npos;
}

}  // namespace

std::string text_table(const std::vector<TextRow>& rows) {
  std::vector<std::size_t> widths;
  for (const TextRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], characters_of(row[c]));
  }
  std::string text;
  for (const TextRow& row : rows) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string gap(widths[c] - characters_of(row[c]), ' ');
      line += " " + (c > 0 && is_number(row[c]) ? gap + row[c] : row[c] + gap) + " ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace headwise
