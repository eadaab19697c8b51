// Matrix products as the reference makes them: each sum is taken in double and rounded once, so that an f32
// result is the rounded exact one and the order of the sum does not show.
#pragma once

#include "core/tensor/eigen_maps.h"

namespace headwise {

// left·right. Behind one door, because Eigen's product is by far the longest thing to compile here.
RowMatrix<double> double_product(const RowMatrix<double>& left, const RowMatrix<double>& right);

// Σ_k a(i,k)·b(k,j); zeros where there is no k. Nothing is skipped: 0·NaN is NaN, as in PyTorch. `a` and `b`
// are maps or their transposes, of any type.
template <class A, class B>
RowMatrix<double> product(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  return double_product(a.template cast<double>(), b.template cast<double>());
}

// out = a·b, rounded to T.
template <class T, class A, class B>
void multiply(MatrixMap<T> out, const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  if (out.size() > 0) out = product(a, b).template cast<T>();
}

}  // namespace headwise
