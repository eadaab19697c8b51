// Sums over rows, exponentials, and the product of all linear layers and of attention, a tile of the output
// in registers at a time. Part of core/train/chunk_kernels.cpp.
#pragma once

#include "core/tensor/vectors.h"
#include "core/train/chunk_work.h"

namespace headwise {
namespace {

// The sum of f(column) over the columns of a row: sixteen sums, added pairwise,
// in the same order whatever the vectors.
template <class F>
inline Real row_sum(Index step, F&& f) {
  constexpr Index parts = train_padding / vector;
  Vector part[parts];
  for (Vector& p : part) p = Vector{};
  for (Index c = 0; c < step; c += train_padding)
#pragma GCC unroll 8
    for (Index v = 0; v < parts; ++v) part[v] += f(c + v * vector);
  Real lanes[train_padding];
  for (Index v = 0; v < parts; ++v) store(lanes + v * vector, part[v]);
  for (Index half = train_padding / 2; half > 0; half /= 2)
    for (Index i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}

// e^x for x ≤ 0: 2^n·e^r with |r| ≤ ln 2/2, ln 2 in two parts. 0 where the result would be denormal,
// NaN for NaN.
inline Vector exponential(Vector x) {
  Vector p;
  Bits bits;
  if constexpr (wide_numbers) {
    const WideExponential wide = wide_exponential(x);
    p = wide.p;
    bits = wide.power;
  } else {
    // e^r by the polynomial of degree 7 of Cephes (expf).
    const Vector shifter = all(static_cast<Real>(12582912.0));  // 1.5·2^23
    const Vector shifted = x * static_cast<Real>(1.44269504088896341) + shifter, n = shifted - shifter;
    const Vector r = (x - n * static_cast<Real>(0.693359375)) + n * static_cast<Real>(2.12194440e-4);
    constexpr double terms[] = {1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
                                5.0000001201e-1};
    p = all(static_cast<Real>(1.9875691500e-4));
#pragma GCC unroll 5
    for (const double term : terms) p = p * r + static_cast<Real>(term);
    p = (r * r * p + r) + static_cast<Real>(1.0);
    bits = reinterpret_cast<const Bits&>(shifted) << 23;
  }
  const Bits result =
      reinterpret_cast<const Bits&>(p) + bits;  // lanes that vanish or are NaN wrap around, and are not used
  const Integers vanishes = x < all(static_cast<Real>(wide_numbers ? -708.0 : -87.0)), is_nan = x != x;
  const Vector zero{};
  return is_nan ? x : (vanishes ? zero : reinterpret_cast<const Vector&>(result));
}

// out[r][c] = Σ_k left.at[r·left.row + k·left.depth]·right.at[k·right.row + c], in the order of k, plus
// bias[c] if there is one; with `add` plus what out holds. `columns` is a multiple of `vector`.
struct LeftSide {
  const Real* at;
  Index row, depth;
};
struct RightSide {
  const Real* at;
  Index row;
};
struct OutSide {
  Real* at;
  Index row;
  bool add = false;
  const Real* bias = nullptr;
};
struct Product {
  Index rows, depth, columns;
  LeftSide left;
  RightSide right;
  OutSide out;
};

// 32 registers hold 6 rows of 4 vectors, 4 vectors of the right side and a number of the left;
// 16 hold 6 rows of 2.
constexpr int tile_rows = 6;
constexpr int tile_vectors = vector * sizeof(Real) == 64 ? 4 : 2;

template <int Rows, int Vectors>
void product_tile(const Product& p, Index row, Index column) {
  const Real* left[Rows];
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r) left[r] = p.left.at + (row + r) * p.left.row;
  const Real* right = p.right.at + column;
  Sums<Rows, Vectors> sum;
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) sum[r][v] = Vector{};
  const Index left_depth = p.left.depth, right_row = p.right.row;
  for (Index k = 0, at = 0; k < p.depth; ++k) {
    step<Rows, Vectors>(left, at, right, sum);
    at += left_depth;
    right += right_row;
  }
  Real* const out = p.out.at + row * p.out.row + column;
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      Real* const to = out + r * p.out.row + v * vector;
      Vector value = sum[r][v];
      if (p.out.bias) value += load(p.out.bias + column + v * vector);
      if (p.out.add) value += load(to);
      store(to, value);
    }
}

template <int Rows, int Vectors>
void last_rows(const Product& p, Index row, Index column) {
  if (p.rows - row == Rows) return product_tile<Rows, Vectors>(p, row, column);
  if constexpr (Rows > 1) last_rows<Rows - 1, Vectors>(p, row, column);
}

template <int Vectors>
void product_columns(const Product& p, Index column) {
  Index row = 0;
  for (; row + tile_rows <= p.rows; row += tile_rows) product_tile<tile_rows, Vectors>(p, row, column);
  if (row < p.rows) last_rows<tile_rows - 1, Vectors>(p, row, column);
}

void multiply(Index rows, Index depth, Index columns, const LeftSide& left, const RightSide& right,
              const OutSide& out) {
  const Product p{rows, depth, columns, left, right, out};
  Index column = 0;
  for (; column + tile_vectors * vector <= p.columns; column += tile_vectors * vector)
    product_columns<tile_vectors>(p, column);
  if constexpr (tile_vectors == 4) {
    if (p.columns - column >= 2 * vector) {
      product_columns<2>(p, column);
      column += 2 * vector;
    }
  }
  if (column < p.columns) product_columns<1>(p, column);
}

}  // namespace
}  // namespace headwise
