#include "core/attention/linear_backward.h"

#include <algorithm>

#include "core/attention/matrix_product.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

// Rows that are widened to double at a time: bounds the extra memory.
constexpr Index block_rows = 512;

Index last_size(const Tensor& tensor) {
  return tensor.shape().size(tensor.shape().rank() - 1);
}

// All leading axes as rows, `count` of them starting at `first`.
template <class T>
ConstMatrixMap<T> rows_of(const Tensor& tensor, Index first, Index count) {
  const Index width = last_size(tensor);
  return {tensor.values<T>().data() + first * width, count, width};
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
                  rows_of<T>(grad_y, first, count), weight);
    });
  });
  return grad_x;
}

void linear_weight_gradient(const Tensor& grad_y, const Tensor& x, Tensor& grad_weight, Index first_row) {
  RowMatrix<double> sum = RowMatrix<double>::Zero(last_size(grad_y), last_size(x));
  dispatch_float(grad_y.dtype(), [&]<class T>() {
    for_each_block(grad_y, [&](Index first, Index count) {
      sum += product(rows_of<T>(grad_y, first, count).transpose(), rows_of<T>(x, first, count));
    });
    MatrixMap<T>(grad_weight.values<T>().data() + first_row * sum.cols(), sum.rows(), sum.cols()) =
        sum.template cast<T>();
  });
}

void linear_bias_gradient(const Tensor& grad_y, Tensor& grad_bias, Index first_entry) {
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(last_size(grad_y));
  dispatch_float(grad_y.dtype(), [&]<class T>() {
    for_each_block(grad_y, [&](Index first, Index count) {
      sum += rows_of<T>(grad_y, first, count).template cast<double>().colwise().sum();
    });
    MatrixMap<T>(grad_bias.values<T>().data() + first_entry, 1, sum.cols()) = sum.template cast<T>();
  });
}

}  // namespace headwise
