#include "core/attention/rotary_embedding.h"

#include <cmath>
#include <string>

#include "core/attention/attention_mask.h"
#include "core/tensor/eigen_maps.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

void check_widths(const Shape& shape, const Rotation& rotation) {
  const std::string got = shape.to_string();
  if (shape.rank() < 2)
    throw Error(ExitStatus::usage,
                {"rotary embedding", "there is no axis of positions", got, "a shape (…,T,D)", ""});
  if (rotation.count() > (shape.size(shape.rank() - 1) - rotation.first) / 2)
    throw Error(ExitStatus::usage, {"rotary embedding", "there are more frequencies than pairs of columns",
                                    std::to_string(rotation.count()) + " frequencies for " + got,
                                    "at most D/2 frequencies", "give one frequency for each pair of columns"});
}

// `direction` 1 rotates forwards, −1 backwards.
Tensor rotated(const Tensor& x, const Rotation& rotation, Index first_position, double direction) {
  const Shape& shape = x.shape();
  check_widths(shape, rotation);
  Tensor out = x;
  if (x.size() == 0) return out;
  const Index positions = shape.size(shape.rank() - 2), pairs = rotation.count();
  const Eigen::Map<const Eigen::RowVectorXd> frequencies(rotation.inverse_frequencies.data(), pairs);
  const auto position = Eigen::VectorXd::NullaryExpr(
      positions, [&](Index t) { return static_cast<double>(first_position + t); });
  const Eigen::ArrayXXd angles = position * frequencies;  // (T,R/2)
  const Eigen::ArrayXXd cosines = rotation.factor * angles.cos(),
                        sines = rotation.factor * direction * angles.sin();
  const auto first = Eigen::seqN(rotation.first, pairs, rotation.step()),
             second = Eigen::seqN(rotation.first + rotation.apart(), pairs, rotation.step());
  dispatch_float(x.dtype(), [&]<class T>() {
    auto rows = all_rows<T>(out);
    for (Index row = 0; row < rows.rows(); ++row) {
      const auto cosine = cosines.row(row % positions), sine = sines.row(row % positions);
      const WideRow x_row = wide_row<T>(x, row), a = x_row(first), b = x_row(second);
      rows.row(row)(first) = (a * cosine - b * sine).template cast<T>();
      rows.row(row)(second) = (b * cosine + a * sine).template cast<T>();
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

std::vector<double> Rotation::numbers() const {
  std::vector<double> numbers = inverse_frequencies;
  numbers.insert(numbers.end(), {static_cast<double>(pairs), factor, static_cast<double>(first)});
  return numbers;
}

Index rotary_width(const AttentionOptions& options) {
  return is_latent(options) ? options.qk_rope_head_dim.value_or(0) : options.head_dim;
}

Rotation rotation_of_keys(const AttentionOptions& options) {
  return {options.rotary_base ? rotary_inverse_frequencies(rotary_width(options), *options.rotary_base)
                              : options.rotary_inverse_frequencies,
          options.rotary_pairs, options.rotary_factor};
}

Rotation rotation_of(const AttentionOptions& options) {
  Rotation rotation = rotation_of_keys(options);
  if (is_latent(options)) rotation.first = options.qk_nope_head_dim.value_or(0);
  return rotation;
}

Index rotary_first_query(const AttentionOptions& options, Index queries, Index keys) {
  return causal_offset(options, queries, keys);
}

Index rotary_first_key(const AttentionOptions& options) {
  return options.past_length.value_or(0);
}

Tensor rotary_embedding(const Tensor& x, const Rotation& rotation, Index first_position) {
  return rotated(x, rotation, first_position, 1.0);
}

Tensor rotary_embedding_gradient(const Tensor& grad_out, const Rotation& rotation, Index first_position) {
  return rotated(grad_out, rotation, first_position, -1.0);
}

}  // namespace headwise
