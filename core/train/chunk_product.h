// The matrices of a chunk as Eigen sees them, and the product of all linear layers and of attention. Part of
// core/train/chunk_kernels.cpp.
#pragma once

#include <Eigen/Core>

#include "core/train/chunk_work.h"

namespace headwise {
namespace {

using Real = HEADWISE_REAL;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Map<Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;
using ConstRows = Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;
using GivenRows = Eigen::Ref<const Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;  // either of them

// A row of a padded matrix, or all rows one behind the other: from a cache line on.
using Row = Eigen::Map<Eigen::Array<Real, 1, Eigen::Dynamic>, Eigen::Aligned64>;
using ConstRow = Eigen::Map<const Eigen::Array<Real, 1, Eigen::Dynamic>, Eigen::Aligned64>;

Rows rows_at(Real* at, Index rows, Index columns, Index step) {
  return {at, rows, columns, Eigen::OuterStride<>(step)};
}
ConstRows rows_at(const Real* at, Index rows, Index columns, Index step) {
  return {at, rows, columns, Eigen::OuterStride<>(step)};
}

// A product, out = start + left·right. Eigen's own, out.noalias() = left * right, copies both sides into
// blocks first, for which the matrices of a chunk are too small: the whole training was 0.81 × as fast with
// it with AVX-512 in f32, 0.91 × with AVX2 (0.88 × and 0.93 × in f64), and a product of one head 0.3 × to
// 0.6 ×. So here a tile of sums stays in registers, and both sides where they are.
struct Product {
  Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> left;
  ConstRows right, start;
  Rows out;
};

// As many sums as the registers hold: 6 rows of 4 vectors in 32 registers, of 2 in 16.
constexpr int tile_height = 6;
constexpr int tile_width = (HEADWISE_VECTOR_BYTES == 64 ? 4 : 2) * HEADWISE_VECTOR_BYTES / sizeof(Real);

template <int Height, int Width>
void product_tile(const Product& p, Index row, Index column) {
  using Part = Eigen::Array<Real, 1, Width>;
  const auto [left, right, start, out] = p;
  Part sum[Height];
#pragma GCC unroll 6
  for (int r = 0; r < Height; ++r) sum[r].setZero();
  for (Index k = 0; k < right.rows(); ++k) {
    const Part of_right = right.row(k).template segment<Width>(column);
#pragma GCC unroll 6
    for (int r = 0; r < Height; ++r) sum[r] += left(row + r, k) * of_right;
  }
#pragma GCC unroll 6
  for (int r = 0; r < Height; ++r) {
    if (start.rows() > 0) sum[r] += start.row(row + r).template segment<Width>(column).array();
    Rows(out).row(row + r).template segment<Width>(column) = sum[r];
  }
}

template <int Height, int Width>
void product_rows(const Product& p, Index row, Index column) {
  for (; row + Height <= p.out.rows(); row += Height) product_tile<Height, Width>(p, row, column);
  if constexpr (Height > 1) product_rows<Height == 6 ? 4 : Height / 2, Width>(p, row, column);
}

template <int Width>
void product_columns(const Product& p, Index column) {
  for (; column + Width <= p.out.cols(); column += Width) product_rows<tile_height, Width>(p, 0, column);
  if constexpr (Width > 1) product_columns<Width / 2>(p, column);
}

// out = start + left·right; the start may be out, or have no rows: 0.
// `left` may be wider than `right` is high, by its pad.
template <class Left>
void add_product(const ConstRows& start, const Left& left, const GivenRows& right, Rows out) {
  const Product product{{left.data(), left.rows(), left.cols(), {left.rowStride(), left.colStride()}},
                        rows_at(right.data(), right.rows(), right.cols(), right.outerStride()),
                        start,
                        out};
  product_columns<tile_width>(product, 0);
}

// out = left·right, or with `add` out + left·right.
template <class Left>
void multiply(const Left& left, const GivenRows& right, Rows out, bool add = false) {
  const Real* const start = out.data();
  add_product(rows_at(start, add ? out.rows() : 0, out.cols(), out.outerStride()), left, right, out);
}

// e^x for x ≤ 0, NaN for NaN, of which Eigen's own makes a number. Not less than the least normal number:
// denormal ones are computed much more slowly.
constexpr Real least_exponent = sizeof(Real) == 8 ? -708 : -87;
template <class Array>
auto exponential(const Array& x) {
  return x.max(least_exponent).exp() + x * Real(0);
}

}  // namespace
}  // namespace headwise
