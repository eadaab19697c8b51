#include "app/content/attention_lines.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
    // Slightly less than the share, so that rounding does not add one more line.
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
  if (count <= most) return result;
  // The same number for each: with equal weights, no query is left without a line.
  const Index each = std::max<Index>(1, most / std::max<Index>(view.rows, 1));
  std::vector<Index> kept(static_cast<std::size_t>(view.rows), 0);
  std::vector<AttentionLine> strongest;
  for (auto line = result.lines.rbegin(); line != result.lines.rend(); ++line) {
    Index& own = kept[static_cast<std::size_t>(per_key ? line->key : line->query)];
    if (own == each) continue;
    ++own;
    strongest.push_back(*line);
  }
  std::ranges::reverse(strongest);
  result.left_out = count - static_cast<Index>(strongest.size());
  result.lines = std::move(strongest);
  return result;
}

}  // namespace headwise
