#include "core/attention/rotary_embedding.h"

#include <cmath>
#include <numbers>
#include <string>

#include "core/tensor/eigen_maps.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

void check_widths(const Shape& shape, std::span<const double> inverse_frequencies) {
  const std::string got = shape.to_string();
  if (shape.rank() < 2)
    throw Error(ExitStatus::usage,
                {"rotary embedding", "there is no axis of positions", got, "a shape (…,T,D)", ""});
  if (static_cast<Index>(inverse_frequencies.size()) > shape.size(shape.rank() - 1) / 2)
    throw Error(ExitStatus::usage, {"rotary embedding", "there are more frequencies than pairs of columns",
                                    std::to_string(inverse_frequencies.size()) + " frequencies for " + got,
                                    "at most D/2 frequencies", "give one frequency for each pair of columns"});
}

// `direction` 1 rotates forwards, −1 backwards.
Tensor rotated(const Tensor& x, std::span<const double> inverse_frequencies, Index first_position,
               double direction) {
  const Shape& shape = x.shape();
  check_widths(shape, inverse_frequencies);
  Tensor out = x;
  if (x.size() == 0) return out;
  const Index positions = shape.size(shape.rank() - 2);
  const Eigen::Map<const Eigen::RowVectorXd> frequencies(inverse_frequencies.data(),
                                                         std::ssize(inverse_frequencies));
  const Index pairs = frequencies.size();
  const auto position = Eigen::VectorXd::NullaryExpr(
      positions, [&](Index t) { return static_cast<double>(first_position + t); });
  const Eigen::ArrayXXd angles = position * frequencies;  // (T,R/2)
  const Eigen::ArrayXXd cosines = angles.cos(), sines = direction * angles.sin();
  dispatch_float(x.dtype(), [&]<class T>() {
    auto rows = all_rows<T>(out);
    for (Index row = 0; row < rows.rows(); ++row) {
      const auto cosine = cosines.row(row % positions), sine = sines.row(row % positions);
      const WideRow x_row = wide_row<T>(x, row), a = x_row.head(pairs), b = x_row.segment(pairs, pairs);
      rows.row(row).head(pairs) = (a * cosine - b * sine).template cast<T>();
      rows.row(row).segment(pairs, pairs) = (b * cosine + a * sine).template cast<T>();
    }
  });
  return out;
}

}  // namespace

std::vector<double> rotary_inverse_frequencies(Index rotary_width, double base) {
  if (rotary_width < 2 || rotary_width % 2 != 0)
    throw Error(ExitStatus::usage, {"rotary embedding", "columns are rotated in pairs",
                                    "a width of " + std::to_string(rotary_width), "an even head_dim",
                                    "set attention.head_dim to an even number"});
  if (!(base > 0.0) || !std::isfinite(base))
    throw Error(ExitStatus::usage, {"rotary embedding", "the base is not a finite number above 0",
                                    std::to_string(base), "10000 as in RoFormer and Llama", ""});
  std::vector<double> frequencies;
  frequencies.reserve(static_cast<std::size_t>(rotary_width / 2));
  for (Index j = 0; j < rotary_width; j += 2)
    frequencies.push_back(std::pow(base, -static_cast<double>(j) / static_cast<double>(rotary_width)));
  return frequencies;
}

std::vector<double> rotary_inverse_frequencies(const AttentionOptions& options) {
  if (!options.rotary_base) return options.rotary_inverse_frequencies;
  return rotary_inverse_frequencies(options.head_dim, *options.rotary_base);
}

Index rotary_first_query(const AttentionOptions& options, Index queries, Index keys) {
  return options.causal_alignment == CausalAlignment::bottom_right ? keys - queries : 0;
}

std::vector<double> scaled_inverse_frequencies(std::vector<double> inverse_frequencies,
                                               const Llama3FrequencyScaling& scaling) {
  for (double& frequency : inverse_frequencies) {
    // How many full rotations the pair makes within the texts that the model was originally trained on.
    const double rotations = scaling.original_max_position_embeddings * frequency / (2.0 * std::numbers::pi);
    if (rotations > scaling.high_freq_factor) continue;
    const double kept =
        rotations < scaling.low_freq_factor
            ? 0.0
            : (rotations - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
    frequency *= kept + (1.0 - kept) / scaling.factor;
  }
  return inverse_frequencies;
}

Tensor rotary_embedding(const Tensor& x, std::span<const double> inverse_frequencies, Index first_position) {
  return rotated(x, inverse_frequencies, first_position, 1.0);
}

Tensor rotary_embedding_gradient(const Tensor& grad_out, std::span<const double> inverse_frequencies,
                                 Index first_position) {
  return rotated(grad_out, inverse_frequencies, first_position, -1.0);
}

}  // namespace headwise
