#include "core/model/transformer/normalisation.h"

#include <cmath>

namespace headwise {

Rows normalised(const Normalisation& norm, const Rows& x) {
  Rows y(x.rows(), x.cols());
  const auto gain = norm.gain->values<float>();
  const auto width = static_cast<double>(x.cols());
  for (Index row = 0; row < x.rows(); ++row) {
    const auto from = x.row(row).cast<double>();
    const double mean = norm.centred ? from.sum() / width : 0.0;
    const double variance = (from.array() - mean).square().sum() / width;
    const double factor = 1.0 / std::sqrt(variance + norm.epsilon);
    for (Index e = 0; e < x.cols(); ++e) {
      const double value = (static_cast<double>(x(row, e)) - mean) * factor *
                           static_cast<double>(gain[static_cast<std::size_t>(e)]);
      y(row, e) = static_cast<float>(
          norm.bias ? value + static_cast<double>(norm.bias->values<float>()[static_cast<std::size_t>(e)])
                    : value);
    }
  }
  return y;
}

}  // namespace headwise
