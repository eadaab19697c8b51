#include "core/picture/axis_labels.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/picture/font.h"
#include "core/picture/label_text.h"

namespace headwise {
namespace {

constexpr double widest_label = 11.0;   // ems; a longer one ends in "…"
constexpr double between_labels = 0.7;  // ems of free space between labels side by side

// 1, 2, 5, 10, 20, 50 …
Index next_step(Index step) {
  Index decade = 1;
  while (step >= 10 * decade) decade *= 10;
  return step == 2 * decade ? 5 * decade : 2 * step;
}

Index step_for(double pitch, double needed) {
  Index step = 1;
  while (static_cast<double>(step) * pitch < needed) step = next_step(step);
  return step;
}

AxisLabels labels_at(const std::vector<std::string>& texts, Index count, Index step, double size,
                     double degrees) {
  AxisLabels out{{}, size, degrees, step, 0.0};
  for (Index index = 0; index < count; index += step) {
    const auto i = static_cast<std::size_t>(index);
    std::string text = i < texts.size() ? shorten(texts[i], FontFace::sans, size, widest_label * size)
                                        : std::to_string(index);
    out.widest = std::max(out.widest, text_width(text, FontFace::sans, size));
    out.labels.push_back({index, std::move(text)});
  }
  return out;
}

}  // namespace

AxisLabels row_axis_labels(const std::vector<std::string>& texts, Index count, double pitch, double size) {
  return labels_at(texts, count, step_for(pitch, line_height * size), size, 0.0);
}

AxisLabels column_axis_labels(const std::vector<std::string>& texts, Index count, double pitch, double size) {
  const bool indices = texts.empty();
  // Horizontal, which is the most legible: a label for every cell, and numbers also thinned.
  for (Index step = 1;; step = next_step(step)) {
    AxisLabels level = labels_at(texts, count, step, size, 0.0);
    if (level.widest + between_labels * size <= static_cast<double>(step) * pitch || level.labels.size() <= 1)
      return level;
    if (!indices) break;
  }
  // Slanted lines are pitch · sin(slant) apart; steeper before thinner.
  for (const double degrees : {35.0, 60.0}) {
    const double apart = pitch * std::sin(degrees * std::numbers::pi / 180.0);
    if (apart >= line_height * size) return labels_at(texts, count, 1, size, degrees);
  }
  const double degrees = 35.0;
  const Index step = step_for(pitch * std::sin(degrees * std::numbers::pi / 180.0), line_height * size);
  return labels_at(texts, count, step, size, degrees);
}

}  // namespace headwise
