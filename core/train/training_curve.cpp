#include "core/train/training_curve.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

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

// A number up to the next comma, which is dropped as well; nullopt if there is none.
template <class V>
std::optional<V> next_number(std::string_view& line) {
  V value = 0;
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  const auto read = static_cast<std::size_t>(stop - line.data());
  if (error != std::errc() || read == line.size() || line[read] != ',') return std::nullopt;
  line.remove_prefix(read + 1);
  return value;
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
    std::string_view rest = line;
    const auto of_line = next_number<Index>(rest);
    if (of_line && *of_line >= 0 && *of_line < step) kept += line + "\n";
  }
  return kept;
}

Index missing_rows(const std::string& csv, Index step) {
  std::set<Index> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::string_view rest = line;
    const auto of_line = next_number<Index>(rest);
    if (of_line && *of_line >= 0 && *of_line < step) rows.insert(*of_line);
  }
  return step - std::ssize(rows);
}

std::vector<CurveLoss> curve_losses(const std::string& csv) {
  std::vector<CurveLoss> losses;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::string_view rest = line;
    const auto step = next_number<Index>(rest);
    const auto loss = step ? next_number<double>(rest) : std::nullopt;
    const auto accuracy = loss ? next_number<double>(rest) : std::nullopt;
    if (accuracy && *step >= 0) losses.push_back({*step, *loss, *accuracy});
  }
  return losses;
}

}  // namespace headwise
