#include "app/panels/attention_lines.h"

#include <algorithm>
#include <cmath>

namespace headwise {

AttentionLines attention_lines(const MatrixView& weights, double share, bool per_key, Index most) {
  const MatrixView view = per_key ? weights.transposed() : weights;
  AttentionLines result;
  std::vector<AttentionLine> row;
  for (Index i = 0; i < view.rows; ++i) {
    row.clear();
    double sum = 0.0;
    for (Index j = 0; j < view.cols; ++j) {
      const double weight = view.value(i, j);
      if (!std::isfinite(weight) || weight <= 0.0) continue;
      row.push_back({per_key ? j : i, per_key ? i : j, weight});
      sum += weight;
    }
    std::ranges::stable_sort(row, std::ranges::greater{}, &AttentionLine::weight);
    // A little less than the share, so that rounding does not ask for one line more.
    const double enough = share * sum * (1.0 - 1e-6);
    double held = 0.0;
    for (const AttentionLine& line : row) {
      if (held >= enough) break;
      held += line.weight;
      result.lines.push_back(line);
    }
  }
  std::ranges::stable_sort(result.lines, std::ranges::less{}, &AttentionLine::weight);
  const auto count = static_cast<Index>(result.lines.size());
  if (count > most) {
    result.left_out = count - most;
    result.lines.erase(result.lines.begin(), result.lines.begin() + result.left_out);
  }
  return result;
}

}  // namespace headwise
