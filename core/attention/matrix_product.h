// Matrix products as the reference makes them: each sum is taken in double and rounded once, so that an f32 result is
// the rounded exact one and the order of the sum does not show.
#pragma once

#include "core/tensor/eigen_maps.h"

namespace headwise {

// Σ_k a(i,k)·b(k,j); zeros where there is no k. Nothing is skipped: 0·NaN is NaN, as in PyTorch. `a` and `b` are maps or
// their transposes, of any type.
template <class A, class B>
RowMatrix<double> product(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  if (a.rows() == 0 || a.cols() == 0 || b.cols() == 0) return RowMatrix<double>::Zero(a.rows(), b.cols());
  const RowMatrix<double> left = a.template cast<double>();
  const RowMatrix<double> right = b.template cast<double>();
  return left * right;
}

// out = a·b, rounded to T.
template <class T, class A, class B>
void multiply(MatrixMap<T> out, const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  if (out.size() > 0) out = product(a, b).template cast<T>();
}

}  // namespace headwise
