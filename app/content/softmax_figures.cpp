#include "app/content/softmax_figures.h"

#include <cmath>

namespace headwise {

SoftmaxFigures softmax_figures(const MatrixView& masked_scores) {
  SoftmaxFigures figures;
  std::vector<double> maximum;
  for (Index row = 0; row < masked_scores.rows; ++row) {
    double largest = -std::numeric_limits<double>::infinity();
    bool nan = false;
    for (Index col = 0; col < masked_scores.cols; ++col) {
      const double score = masked_scores.value(row, col);
      nan = nan || std::isnan(score);
      largest = std::max(largest, score);
    }
    if (nan) largest = std::nan("");
    double sum = 0.0;
    for (Index col = 0; col < masked_scores.cols; ++col)
      sum += std::exp(masked_scores.value(row, col) - largest);
    maximum.push_back(largest);
    figures.exp_sum.push_back(sum);
  }
  figures.maximum = std::make_shared<Tensor>(Shape{{"L", masked_scores.rows}, {"max", 1}}, std::move(maximum));
  return figures;
}

}  // namespace headwise
