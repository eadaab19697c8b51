#include "app/content/map_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headwise {

CellStatistics cell_statistics(const MatrixView& values, const std::optional<MatrixView>& mask) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CellStatistics all;
  all.cells = values.rows * values.cols;
  double sum = 0.0;
  const auto is_open = [&](Index row, Index col) { return !mask || mask->value(row, col) != -infinity; };
  for (Index row = 0; row < values.rows; ++row) {
    for (Index col = 0; col < values.cols; ++col) {
      const double value = values.value(row, col);
      if (std::isnan(value)) ++all.nans;
      if (std::isfinite(value)) all.sum += value;
      if (!is_open(row, col)) continue;
      ++all.open;
      if (value == -infinity) ++all.minus_infs;
      if (value == infinity) ++all.plus_infs;
      if (!std::isfinite(value)) continue;
      if (all.finite == 0 || value > all.largest) {
        all.largest = value;
        all.place = {row, col};
      }
      all.least = all.finite == 0 ? value : std::min(all.least, value);
      sum += value;
      ++all.finite;
    }
  }
  if (all.finite == 0) return all;
  all.mean = sum / static_cast<double>(all.finite);
  double squares = 0.0;
  for (Index row = 0; row < values.rows; ++row) {
    for (Index col = 0; col < values.cols; ++col) {
      const double value = values.value(row, col);
      if (std::isfinite(value) && is_open(row, col)) squares += (value - all.mean) * (value - all.mean);
    }
  }
  all.deviation = std::sqrt(squares / static_cast<double>(all.finite));
  return all;
}

MatrixView row_of(const MatrixView& matrix, Index row) {
  MatrixView view = matrix;
  view.offset = matrix.flat(row, 0);
  view.rows = 1;
  return view;
}

SoftmaxFigures softmax_figures(const MatrixView& masked_scores, double sink) {
  SoftmaxFigures figures;
  std::vector<double> maximum;
  for (Index row = 0; row < masked_scores.rows; ++row) {
    double largest = sink;
    bool nan = false;
    for (Index col = 0; col < masked_scores.cols; ++col) {
      const double score = masked_scores.value(row, col);
      nan = nan || std::isnan(score);
      largest = std::max(largest, score);
    }
    if (nan) largest = std::nan("");
    double sum = std::isinf(sink) ? 0.0 : std::exp(sink - largest);
    for (Index col = 0; col < masked_scores.cols; ++col)
      sum += std::exp(masked_scores.value(row, col) - largest);
    maximum.push_back(largest);
    figures.exp_sum.push_back(sum);
  }
  figures.maximum = std::make_shared<Tensor>(Shape{{"L", masked_scores.rows}, {"max", 1}}, std::move(maximum));
  return figures;
}

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
