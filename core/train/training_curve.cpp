#include "core/train/training_curve.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

namespace headwise {
namespace {

constexpr const char* curve_header =
    "step,loss,accuracy,learning_rate,gradient_norm,held_out_loss,held_out_accuracy\n";

// Loss and accuracy; nothing counted has none.
std::string measured(const BatchResult& result) {
  if (result.counted == 0) return ",";
  return fmt::format("{},{}", result.loss,
                     static_cast<double>(result.correct) / static_cast<double>(result.counted));
}

}  // namespace

std::string curve_csv(const std::vector<CurveRow>& rows) {
  std::string csv = curve_header;
  for (const CurveRow& row : rows)
    csv += fmt::format("{},{},{},{},{}\n", row.step.step, measured(row.step.batch),
                       row.step.update.learning_rate, row.step.update.gradient_norm,
                       row.held_out ? measured(*row.held_out) : ",");
  return csv;
}

std::string curve_before(const std::string& csv, Index step) {
  std::string kept = curve_header;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    Index of_line = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), of_line);
    const bool is_row = error == std::errc() && stop != line.data() + line.size() && *stop == ',';
    if (is_row && of_line >= 0 && of_line < step) kept += line + "\n";
  }
  return kept;
}

}  // namespace headwise
