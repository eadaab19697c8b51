// Matrix products as the reference makes them: each sum is taken in double and rounded once, so that an f32
// result is the rounded exact one and the order of the sum does not show.
#pragma once

#include "core/tensor/eigen_maps.h"

namespace headwise {

// out(i,j) = Σ_k a(i,k)·b(k,j); zeros where there is no k. Nothing is skipped: 0·NaN is NaN, as in PyTorch.
template <class T, class A, class B>
void multiply(MatrixMap<T> out, const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  if (out.size() == 0) return;
  if (a.cols() == 0) {
    out.setZero();
  } else {
    const RowMatrix<double> left = a.template cast<double>();
    const RowMatrix<double> right = b.template cast<double>();
    out = (left * right).template cast<T>();
  }
}

// out(i,j) = Σ_k a(i,k)·b(j,k)
template <class T, class A, class B>
void multiply_transposed(MatrixMap<T> out, const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  if (out.size() == 0) return;
  if (a.cols() == 0) {
    out.setZero();
  } else {
    const RowMatrix<double> left = a.template cast<double>();
    const RowMatrix<double> right = b.template cast<double>();
    out = (left * right.transpose()).template cast<T>();
  }
}

}  // namespace headwise
