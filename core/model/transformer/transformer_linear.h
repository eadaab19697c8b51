// The affine maps of a transformer in f32: y = x·Wᵀ + b, for a few rows of x and large weights.
#pragma once

#include <algorithm>

#include "core/tensor/eigen_maps.h"

namespace headwise {

using Rows = RowMatrix<float>;  // one row per token

// Adjacent rows of a weight (out,in), torch.nn.Linear, or the whole of a weight (in,out), GPT-2's Conv1D.
struct TransformerLinear {
  TensorPtr weight = nullptr;
  TensorPtr bias = nullptr;  // null: none
  Index first_row = 0;       // of `weight`
  Index first_bias = 0;      // of `bias`
  Index out = 0, in = 0;
  bool is_conv1d = false;
};

// left·right, where sums over the depth are computed in f32 for a few terms at a time and added up in f64: as
// fast as an f32 product, with an eighth of its error at a depth of a thousand.
template <class A, class B>
RowMatrix<double> blockwise_product(const Eigen::MatrixBase<A>& left, const Eigen::MatrixBase<B>& right) {
  constexpr Index depth_at_once = 32;
  RowMatrix<double> sum = RowMatrix<double>::Zero(left.rows(), right.cols());
  Rows part(left.rows(), right.cols());
  for (Index k = 0; k < left.cols(); k += depth_at_once) {
    const Index depth = std::min(depth_at_once, left.cols() - k);
    part.noalias() = left.middleCols(k, depth) * right.middleRows(k, depth);
    sum += part.template cast<double>();
  }
  return sum;
}

// x (L,in) → (L,out). The result does not depend on the number of threads. Throws Error(cancelled).
Rows apply_linear(const TransformerLinear& linear, const Eigen::Ref<const Rows>& x);

}  // namespace headwise
