#include "core/attention/norm.h"

#include <cmath>

#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

// The row of the weights that belongs to row `r` of x.
Index weight_row(const Shape& x, const Shape& weight, Index r) {
  return weight.rank() < 2 ? 0 : r / x.size(x.rank() - 2) % weight.size(0);
}

struct Standardised {
  WideRow values;  // x̂
  double deviation;
};

Standardised standardised(const WideRow& row, const Norm& norm) {
  const auto [mean, deviation] = row_norm(row, norm);
  return {(row - mean) / deviation, deviation};
}

template <class T>
WideRow factors(const Tensor& x, const Tensor* weight, const Norm& norm, Index r) {
  if (!weight) return WideRow::Ones(all_rows<T>(x).cols());
  return wide_row<T>(*weight, weight_row(x.shape(), weight->shape(), r)) + norm.offset;
}

}  // namespace

Norm norm_of(const AttentionOptions& options, TensorId id) {
  if (id == TensorId::layer_norm_output || id == TensorId::residual_output || id == TensorId::output)
    return {};
  return is_latent(options) ? latent_norm_of(options) : qk_norm_of(options);
}

const char* deviation_name(NormKind kind) {
  return kind == NormKind::rms     ? "√(mean square + ε)"
         : kind == NormKind::layer ? "√(variance + ε)"
                                   : "√(Σ squares + ε)";
}

RowNorm row_norm(const WideRow& row, const Norm& norm) {
  const double mean = norm.kind == NormKind::layer ? row.mean() : 0.0;
  const double squares = (row - mean).square().sum();
  const double width = norm.kind == NormKind::l2 ? 1.0 : static_cast<double>(row.size());
  return {mean, std::sqrt(squares / width + norm.epsilon)};
}

Tensor normalised(const Tensor& x, const Tensor* weight, const Norm& norm) {
  Tensor y = Tensor::unwritten(x.shape(), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    auto to = all_rows<T>(y);
    for (Index r = 0; r < to.rows(); ++r)
      to.row(r) = (factors<T>(x, weight, norm, r) * standardised(wide_row<T>(x, r), norm).values)
                      .template cast<T>()
                      .matrix();
  });
  return y;
}

Tensor normalised_gradient(const Tensor& grad_y, const Tensor& x, const Tensor* weight, const Norm& norm) {
  Tensor grad_x = Tensor::unwritten(x.shape(), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    auto to = all_rows<T>(grad_x);
    for (Index r = 0; r < to.rows(); ++r) {
      const WideRow dx = factors<T>(x, weight, norm, r) * wide_row<T>(grad_y, r);
      const auto [values, deviation] = standardised(wide_row<T>(x, r), norm);
      const double along = norm.kind == NormKind::l2 ? (dx * values).sum() : (dx * values).mean();
      const double mean = norm.kind == NormKind::layer ? dx.mean() : 0.0;
      to.row(r) = ((dx - mean - values * along) / deviation).template cast<T>().matrix();
    }
  });
  return grad_x;
}

Tensor norm_weight_gradient(const Tensor& grad_y, const Tensor& x, const Shape& weight, const Norm& norm) {
  Tensor gradient(weight, x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    RowMatrix<double> sum = RowMatrix<double>::Zero(all_rows<T>(gradient).rows(), all_rows<T>(gradient).cols());
    for (Index r = 0; r < all_rows<T>(x).rows(); ++r)
      sum.row(weight_row(x.shape(), weight, r)) +=
          (wide_row<T>(grad_y, r) * standardised(wide_row<T>(x, r), norm).values).matrix();
    all_rows<T>(gradient) = sum.template cast<T>();
  });
  return gradient;
}

}  // namespace headwise
