// Matrix products as the reference computes them: each sum is accumulated in double and rounded once, so that
// an f32 result is the exact one rounded. The bits do not depend on the number of threads.
#pragma once

#include <span>

#include "core/attention/matrix_kernels.h"
#include "core/tensor/eigen_maps.h"

namespace headwise {

// Computes all of them (core/attention/matrix_kernels.h), on all available threads. Throws Error(cancelled).
void multiply_doubles(std::span<const DoubleProduct> products);

// left·right
RowMatrix<double> double_product(const RowMatrix<double>& left, const RowMatrix<double>& right);

// Σ_k a(i,k)·b(k,j). `a` and `b` are maps or their transposes, of any type.
template <class A, class B>
RowMatrix<double> product(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  return double_product(a.template cast<double>(), b.template cast<double>());
}

// out = a·b, rounded to T.
template <class T, class A, class B>
void multiply(MatrixMap<T> out, const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  if (out.size() > 0) out = product(a, b).template cast<T>();
}

// Incremental products: after a change to one parameter of a head, or to one token, most cells of the next
// product equal those of the previous one.

// The operands and the result of a previous product of the same sizes. Steps are those of the new product.
struct EarlierProduct {
  const double* left;
  const double* right;
  const double* bias;  // null if the product has no bias
  const double* out;
};

enum class ProductChange { none, some, most };

// Updates products[i] from earlier[i]: only rows whose left side has changed, and columns whose right side or
// bias has changed, are computed, the rest is copied; bitwise equal to multiply_doubles. Outputs may be
// uninitialised. `some`: every output is filled. `none`: nothing has changed, and nothing was written.
// `most`: more than a quarter of the work would remain, so multiply_doubles is faster;
// nothing was written. Throws Error(cancelled).
ProductChange incremental_product(std::span<const DoubleProduct> products,
                                  std::span<const EarlierProduct> earlier);

}  // namespace headwise
