#include "core/attention/linear.h"

#include <algorithm>

#include "core/attention/matrix_product.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

// Rows of x that are widened to double at a time: bounds the memory beside x and y.
constexpr Index block_rows = 512;

template <class T>
void linear_into(Tensor& y, const Tensor& x, const LinearRows& rows) {
  const Index out_features = y.shape().size(y.shape().rank() - 1);
  const Index in_features = rows.weight->shape().size(1);
  if (y.size() == 0) return;
  const Index count = y.size() / out_features;
  const ConstMatrixMap<T> weight(rows.weight->values<T>().data() + rows.first_weight_row * in_features,
                                 out_features, in_features);
  const RowMatrix<double> wide_weight = weight.transpose().template cast<double>();  // (in, out)
  Eigen::RowVectorXd bias = Eigen::RowVectorXd::Zero(out_features);
  if (rows.bias) {
    const auto given = rows.bias->values<T>().subspan(static_cast<std::size_t>(rows.first_bias_entry));
    for (Index o = 0; o < out_features; ++o) bias[o] = given[static_cast<std::size_t>(o)];
  }
  for (Index first = 0; first < count; first += block_rows) {
    check_cancelled();
    const Index block = std::min(block_rows, count - first);
    const ConstMatrixMap<T> x_block(x.values<T>().data() + first * in_features, block, in_features);
    RowMatrix<double> wide_y = double_product(x_block.template cast<double>(), wide_weight);
    wide_y.rowwise() += bias;
    MatrixMap<T>(y.values<T>().data() + first * out_features, block, out_features) =
        wide_y.template cast<T>();
  }
}

}  // namespace

Tensor linear(const Tensor& x, const LinearRows& rows, Shape out) {
  Tensor y(std::move(out), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() { linear_into<T>(y, x, rows); });
  return y;
}

}  // namespace headwise
