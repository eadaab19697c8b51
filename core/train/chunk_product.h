// The product of all linear layers and of attention, a tile of the output in registers at a time. Part of
// core/train/chunk_kernels.cpp.
#pragma once

#include "core/train/chunk_vectors.h"

namespace headwise {
namespace {

// out[r][c] = Σ_k left[r·left_row + k·left_depth]·right[k·right_row + c], in the order of k, plus bias[c] if
// there is one; with `add` plus what out holds. `columns` is a multiple of `vector`.
struct Product {
  Index rows, depth, columns;
  const Real* left;
  Index left_row, left_depth;
  const Real* right;
  Index right_row;
  Real* out;
  Index out_row;
  const Real* bias = nullptr;
  bool add = false;
};

// 32 registers hold 6 rows of 4 vectors, 4 vectors of the right side and a number of the left;
// 16 hold 6 rows of 2.
constexpr int tile_rows = HEADWISE_BLOCK;
constexpr int tile_vectors = vector * sizeof(Real) == 64 ? 4 : 2;

template <int Rows, int Vectors>
void product_tile(const Product& p, Index row, Index column) {
  const Real* left[Rows];
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r) left[r] = p.left + (row + r) * p.left_row;
  const Real* right = p.right + column;
  Vector sum[Rows][Vectors];
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) sum[r][v] = Vector{};
  const Index left_depth = p.left_depth, right_row = p.right_row;
  for (Index k = 0, at = 0; k < p.depth; ++k) {
    Vector x[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) x[v] = load(right + v * vector);
#pragma GCC unroll 6
    for (int r = 0; r < Rows; ++r) {
      const Vector l = all(left[r][at]);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sum[r][v] += l * x[v];
    }
    at += left_depth;
    right += right_row;
  }
  Real* const out = p.out + row * p.out_row + column;
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      Real* const to = out + r * p.out_row + v * vector;
      Vector value = sum[r][v];
      if (p.bias) value += load(p.bias + column + v * vector);
      if (p.add) value += load(to);
      store(to, value);
    }
}

template <int Vectors>
void product_columns(const Product& p, Index column) {
  Index row = 0;
  for (; row + tile_rows <= p.rows; row += tile_rows) product_tile<tile_rows, Vectors>(p, row, column);
  switch (p.rows - row) {
    case 5:
      return product_tile<5, Vectors>(p, row, column);
    case 4:
      return product_tile<4, Vectors>(p, row, column);
    case 3:
      return product_tile<3, Vectors>(p, row, column);
    case 2:
      return product_tile<2, Vectors>(p, row, column);
    case 1:
      return product_tile<1, Vectors>(p, row, column);
    default:
      return;
  }
}

void multiply(const Product& p) {
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
