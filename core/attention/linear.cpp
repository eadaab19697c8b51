#include "core/attention/linear.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/tensor/float_dispatch.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

// Rows of x that are widened to double at a time: bounds the extra memory.
constexpr Index block_rows = 512;

// `x`, `weight` and `bias` (may be null) as stored in memory.
DoubleProduct affine(const double* x, Index count, const double* weight, const double* bias,
                     Index in_features, Index out_features, double* y) {
  return {.rows = count,
          .depth = in_features,
          .columns = out_features,
          .left = x,
          .left_step = in_features,
          .right = weight,
          .right_row_step = 1,
          .right_column_step = in_features,
          .out = y,
          .out_step = out_features,
          .bias = bias};
}

template <class T>
void linear_into(Tensor& y, const Tensor& x, const LinearRows& rows) {
  const Index out_features = y.shape().size(y.shape().rank() - 1);
  const Index in_features = rows.weight->shape().size(1);
  if (y.size() == 0) return;
  const Index count = y.size() / out_features;
  const T* const weight = rows.weight->values<T>().data() + rows.first_weight_row * in_features;
  const T* const bias = rows.bias ? rows.bias->values<T>().data() + rows.first_bias_entry : nullptr;
  const T* const from = x.values<T>().data();
  T* const to = y.values<T>().data();
  if constexpr (std::is_same_v<T, double>) {
    const DoubleProduct product = affine(from, count, weight, bias, in_features, out_features, to);
    multiply_doubles({&product, 1});
  } else {
    const std::vector<double> wide_weight(weight, weight + out_features * in_features);
    std::vector<double> wide_bias;
    if (bias) wide_bias.assign(bias, bias + out_features);
    for (Index first = 0; first < count; first += block_rows) {
      const Index block = std::min(block_rows, count - first);
      const ProgressPart part = slice_of_work(first / block_rows, (count + block_rows - 1) / block_rows);
      const std::vector<double> wide_x(from + first * in_features, from + (first + block) * in_features);
      RowMatrix<double> wide_y(block, out_features);
      const DoubleProduct product =
          affine(wide_x.data(), block, wide_weight.data(), bias ? wide_bias.data() : nullptr, in_features,
                 out_features, wide_y.data());
      multiply_doubles({&product, 1});
      MatrixMap<T>(to + first * out_features, block, out_features) = wide_y.template cast<T>();
    }
  }
}

}  // namespace

ProductChange incremental_linear(const Tensor& x, const LinearRows& rows, const EarlierLinear& earlier,
                                 Tensor& y) {
  const Tensor& before = earlier.y;
  const bool alike = x.dtype() == DType::f64 && before.dtype() == DType::f64 &&
                     x.shape().same_sizes(earlier.x.shape()) && y.shape().same_sizes(before.shape()) &&
                     !rows.bias == !earlier.rows.bias && y.size() > 0 &&
                     rows.weight->shape().size(1) == earlier.rows.weight->shape().size(1);
  if (!alike) return ProductChange::most;
  const Index out_features = y.shape().size(y.shape().rank() - 1), in_features = rows.weight->shape().size(1);
  const auto weight_of = [&](const LinearRows& of) {
    return of.weight->values<double>().data() + of.first_weight_row * in_features;
  };
  const auto bias_of = [](const LinearRows& of) {
    return of.bias ? of.bias->values<double>().data() + of.first_bias_entry : nullptr;
  };
  const DoubleProduct product = affine(x.values<double>().data(), y.size() / out_features, weight_of(rows),
                                       bias_of(rows), in_features, out_features, y.values<double>().data());
  const EarlierProduct product_before{earlier.x.values<double>().data(), weight_of(earlier.rows),
                                      bias_of(earlier.rows), before.values<double>().data()};
  return incremental_product({&product, 1}, {&product_before, 1});
}

Tensor linear(const Tensor& x, const LinearRows& rows, Shape out) {
  Tensor y = Tensor::unwritten(std::move(out), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() { linear_into<T>(y, x, rows); });
  return y;
}

namespace {

Index last_size(const Tensor& tensor) {
  return tensor.shape().size(tensor.shape().rank() - 1);
}

// Calls f(first, count) for blocks that cover all rows.
template <class F>
void for_each_block(const Tensor& tensor, F&& f) {
  const Index width = last_size(tensor);
  const Index rows = width == 0 ? 0 : tensor.size() / width;
  for (Index first = 0; first < rows; first += block_rows) {
    const ProgressPart part = slice_of_work(first / block_rows, (rows + block_rows - 1) / block_rows);
    f(first, std::min(block_rows, rows - first));
  }
}

}  // namespace

Tensor linear_input_gradient(const Tensor& grad_y, const LinearRows& rows, const Shape& x) {
  Tensor grad_x(x, grad_y.dtype());
  const Index in_features = last_size(grad_x);
  dispatch_float(grad_y.dtype(), [&]<class T>() {
    const ConstMatrixMap<T> weight(rows.weight->values<T>().data() + rows.first_weight_row * in_features,
                                   last_size(grad_y), in_features);
    for_each_block(grad_y, [&](Index first, Index count) {
      multiply<T>({grad_x.values<T>().data() + first * in_features, count, in_features},
                  all_rows<T>(grad_y).middleRows(first, count), weight);
    });
  });
  return grad_x;
}

void linear_weight_gradient(const Tensor& grad_y, const Tensor& x, Tensor& grad_weight, Index first_row) {
  RowMatrix<double> sum = RowMatrix<double>::Zero(last_size(grad_y), last_size(x));
  dispatch_float(grad_y.dtype(), [&]<class T>() {
    for_each_block(grad_y, [&](Index first, Index count) {
      sum += product(all_rows<T>(grad_y).middleRows(first, count).transpose(),
                     all_rows<T>(x).middleRows(first, count));
    });
    MatrixMap<T>(grad_weight.values<T>().data() + first_row * sum.cols(), sum.rows(), sum.cols()) =
        sum.template cast<T>();
  });
}

void linear_bias_gradient(const Tensor& grad_y, Tensor& grad_bias, Index first_entry) {
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(last_size(grad_y));
  dispatch_float(grad_y.dtype(), [&]<class T>() {
    for_each_block(grad_y, [&](Index first, Index count) {
      sum += all_rows<T>(grad_y).middleRows(first, count).template cast<double>().colwise().sum();
    });
    MatrixMap<T>(grad_bias.values<T>().data() + first_entry, 1, sum.cols()) = sum.template cast<T>();
  });
}

}  // namespace headwise
