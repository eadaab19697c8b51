// The product, computed one tile of the output in registers at a time. Part of core/fused/kernels.cpp.
//
// Measured with AVX-512, as shares of the peak: four steps of the depth with strides that the compiler
// knows 0.91 to 0.97; prefetching the next panel, and a task that keeps its weights for 8 panels, 0.70 to
// 0.85 at 2,048 tokens; strips of 512 keys in place of 128 or 192, though scores then leave the L1 cache.
// Making a vector of a number by adding it to zeros cost a quarter: GCC keeps that addition because of
// −0, and removes a subtraction. With AVX2 four steps together took longer than one until the compiler could
// no longer move a multiply-add or put a sum into memory: now a step takes 21 instructions in place of 29,
// for 12 multiply-adds. On two cores of a shared Emerald Rapids that is equal while a tile reaches 0.92 to
// 0.97 of the peak, and 0.68 to 0.82 in place of 0.54 to 0.66 at times when the same tile does not.
// Without success: the same with SSE2 (2 % slower); 96, 128 or 256 of the depth at a time, so that the right
// side stays in an L1 cache of 32 KiB (half as many misses, 5 % slower); half as many queries, so that scores
// stay there; pages of 2 MiB for its buffers; kept weights written only during one of the two products, or
// six vectors every 16 steps (1.10 × the time).
#pragma once

#include "core/fused/vectors.h"

namespace headwise {
namespace {

// 32 registers hold 6 rows of 4 vectors, 4 vectors of the right side and a number of the left;
// 16 hold 6 rows of 2.
constexpr int tile_rows = 6;
constexpr int tile_vectors = vector == 16 ? 4 : 2;
constexpr int tile_columns = tile_vectors * vector;

// What a tile prefetches meanwhile, one step of its depth at a time: what the caller needs next, and the rows
// of the next tile.
struct Prefetch {
  const float* wanted;
  Index wanted_step, rows_step;
};

// How the left side of a tile is stored, if the compiler may know it. The right side has panel_lanes numbers
// between two steps of the depth in both cases.
enum class LeftSide {
  any,
  rows,       // a row's numbers are contiguous
  kept_rows,  // and go to memory, too, on the way
  lanes,      // the numbers of a step of the depth are contiguous, a panel's width from the next
};

// The numbers of its left side that a tile has just read, on their way to memory:
// vectors that are in the L1 cache.
struct Kept {
  float* out;
  Index row;
  const float* factor;
};

// Rows `part`, `part` + 4 … of a vector's width. A store or two every few steps drain alongside the product;
// those of all rows at once stall it.
constexpr int steps_together = 4, kept_parts = vector / steps_together;
template <int Rows>
inline void keep(const float* const* left, Index at, Index part, const Kept& kept) {
#pragma GCC unroll 4
  for (int p = 0; p < kept_parts; ++p) {
    if (p != part) continue;
#pragma GCC unroll 2
    for (int r = p; r < Rows; r += kept_parts)
      store_past(kept.out + r * kept.row + at, load(left[r] + at) * kept.factor[r]);
  }
}

// Steps [0, depth). If strides are known, four at a time:
// otherwise counting and address arithmetic displace multiply-adds.
template <LeftSide Side, int Rows, int Vectors>
inline void steps(const FusedProduct& p, const float* const* first, const float* right, Index depth,
                  const Prefetch& prefetch, const Kept& kept, Sums<Rows, Vectors>& sum) {
  constexpr bool known = Side != LeftSide::any, keeps = Side == LeftSide::kept_rows;
  const Index left_depth = !known ? p.left_depth : Side == LeftSide::lanes ? panel_lanes : 1;
  const Index right_depth = known ? panel_lanes : p.right_depth;
  const float* left[Rows];
  for (int r = 0; r < Rows; ++r) left[r] = Side == LeftSide::lanes ? first[0] + r : first[r];
  const float *wanted = prefetch.wanted, *rows = first[0] + Rows * p.left_row;
  Index at = 0, k = 0;
  if constexpr (known) {
    constexpr int together = steps_together;
    for (; k + together <= depth; k += together) {
#pragma GCC unroll 4
      for (int i = 0; i < together; ++i) {
        const float* here[Rows];
        if constexpr (Side == LeftSide::lanes) {
          const float* lanes = first[0] + at + i * left_depth;
          asm volatile("" : "+r"(lanes));  // else the compiler counts up a pointer for each row
          for (int r = 0; r < Rows; ++r) here[r] = lanes + r;
        } else {
          for (int r = 0; r < Rows; ++r) here[r] = left[r] + at + i * left_depth;
        }
        step<Rows, Vectors>(here, 0, right + i * right_depth, sum);
        if (i % 2 == 0) __builtin_prefetch(rows + i * prefetch.rows_step, 0, 3);
      }
      __builtin_prefetch(wanted, 0, 2);
      wanted += together * prefetch.wanted_step;
      rows += together * prefetch.rows_step;
      at += together * left_depth;
      right += together * right_depth;
      if constexpr (keeps) {  // of the last whole vector
        if (at >= vector) keep<Rows>(left, (at / vector - 1) * vector, at / together % kept_parts, kept);
      }
    }
    for (Index part = at / together % kept_parts + 1; keeps && at >= vector && part < kept_parts; ++part)
      keep<Rows>(left, (at / vector - 1) * vector, part, kept);
  }
  for (; k < depth; ++k) {
    step<Rows, Vectors>(left, at, right, sum);
    __builtin_prefetch(wanted, 0, 2);
    __builtin_prefetch(rows, 0, 3);
    wanted += prefetch.wanted_step;
    rows += prefetch.rows_step;
    at += left_depth;
    right += right_depth;
  }
}

template <LeftSide Side, int Rows, int Vectors>
void tile(const FusedProduct& p, Index row, Index column, Index depth, const Prefetch& prefetch) {
  const float* left[Rows];
  left[0] = p.left + row * p.left_row;
#pragma GCC unroll 6
  for (int r = 1; r < Rows; ++r) left[r] = left[r - 1] + p.left_row;
  const float* right = p.right + column / panel_lanes * p.right_panel + column % panel_lanes;
  float* const out = p.out + row * p.out_row + column;
  Sums<Rows, Vectors> sum;
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) sum[r][v] = Vector{};
  if (p.begin == Begin::bias) {
#pragma GCC unroll 6
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sum[r][v] = all(p.by_row[row + r]);
  } else if (p.begin != Begin::zero) {
#pragma GCC unroll 6
    for (int r = 0; r < Rows; ++r) {
      const Vector factor = all(p.begin == Begin::factor ? p.by_row[row + r] : 1.0f);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sum[r][v] = load(out + r * p.out_row + v * vector) * factor;
    }
  }
  const bool keeps = p.kept && column == 0;
  const Kept kept = keeps ? Kept{p.kept + row * p.kept_row, p.kept_row, p.kept_factor + row} : Kept{};
  steps<Side, Rows, Vectors>(p, left, right, depth, prefetch, kept, sum);
  // What remains to be written to `kept`.
  const Index behind = Side == LeftSide::kept_rows ? depth / vector * vector : 0;
  for (int r = 0; keeps && r < Rows; ++r) {
    write(left[r] + behind, depth - behind, kept.factor[r], kept.out + r * kept.row + behind);
    write(nullptr, p.depth - depth, kept.factor[r], kept.out + r * kept.row + depth);
  }
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) store(out + r * p.out_row + v * vector, sum[r][v]);
  if (!p.largest || column >= p.largest_columns) return;
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r) {
    float* const at_row = p.largest + (row + r) * widest_vector;
    Vector largest = load(at_row);
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) largest = larger(sum[r][v], largest);
    store(at_row, largest);
  }
}

using Tile = void (*)(const FusedProduct& p, Index row, Index column, Index depth, const Prefetch& prefetch);

// Those of one kind of left side, by rows and vectors.
struct Tiles {
  Tile of[tile_rows + 1][tile_vectors + 1] = {};
};

template <LeftSide Side, int Rows, int Vectors>
constexpr void add_tiles(Tiles& tiles) {
  tiles.of[Rows][Vectors] = tile<Side, Rows, Vectors>;
  if constexpr (Vectors > 1)
    add_tiles<Side, Rows, Vectors - 1>(tiles);
  else if constexpr (Rows > 1)
    add_tiles<Side, Rows - 1, tile_vectors>(tiles);
}

// Each kind in functions of its own, as the compiler hands out registers function by function.
template <LeftSide Side>
constexpr Tiles tiles_of() {
  Tiles tiles;
  add_tiles<Side, tile_rows, tile_vectors>(tiles);
  return tiles;
}
constexpr Tiles any_tiles = tiles_of<LeftSide::any>(), row_tiles = tiles_of<LeftSide::rows>(),
                kept_row_tiles = tiles_of<LeftSide::kept_rows>(), lane_tiles = tiles_of<LeftSide::lanes>();

const Tiles& tiles_for(const FusedProduct& p, bool keeps) {
  if (vector == 4 || p.right_depth != panel_lanes) return any_tiles;  // with SSE2 the others are 2 % slower
  if (p.left_depth == 1)
    return keeps && is_aligned(p.kept) && p.kept_row % vector == 0 ? kept_row_tiles : row_tiles;
  return p.left_row == 1 && p.left_depth == panel_lanes ? lane_tiles : any_tiles;
}

inline Index furthest(const std::int32_t* reach, Index rows, Index most) {
  Index far = 0;
  for (Index r = 0; r < rows; ++r) far = reach[r] > far ? reach[r] : far;
  return far < most ? far : most;
}

// A few columns of the right side stay in the L1 cache while the rows pass.
void multiply(const FusedProduct& p) {
  const Index made = ((p.rows + tile_rows - 1) / tile_rows) * ((p.columns + tile_columns - 1) / tile_columns);
  // Spread evenly over all steps of all tiles; if nothing is needed next, prefetches what is already there.
  Prefetch prefetch{p.prefetch ? p.prefetch : p.right,
                    p.prefetch && p.depth > 0 ? p.prefetch_count / (made * p.depth) + 1 : 0,
                    p.depth > 0 ? tile_rows * p.left_row / p.depth : 0};
  for (Index column = 0; column < p.columns; column += tile_columns) {
    const Tiles& tiles = tiles_for(p, p.kept && column == 0);
    Index rows = 0;
    for (Index row = 0; row < p.rows; row += rows, prefetch.wanted += prefetch.wanted_step * p.depth) {
      // the last two tiles have similar heights: a low one waits for its sums
      const Index left = p.rows - row;
      rows = left >= 2 * tile_rows ? tile_rows : left > tile_rows ? (left + 1) / 2 : left;
      const Index end = p.column_reach ? furthest(p.column_reach + row, rows, p.columns) : p.columns;
      const Index depth = p.depth_reach ? furthest(p.depth_reach + row, rows, p.depth) : p.depth;
      Index columns = end - column;
      if (columns <= 0) continue;
      columns = columns < tile_columns ? columns : tile_columns;
      tiles.of[rows][(columns + vector - 1) / vector](p, row, column, depth, prefetch);
    }
  }
}

}  // namespace
}  // namespace headwise
