// Compiled once for each instruction set (core/fused/vectors.h). Includes nothing that could be instantiated
// elsewhere with other flags.
#include "core/fused/kernels.h"

#include "core/fused/product_kernel.h"
#include "core/fused/softmax_kernel.h"
#include "core/fused/vectors.h"

namespace headwise {
namespace {

// Transposes rows to columns, one square of vectors in registers at a time.
template <int S>
inline void exchange(Vector* x) {
#pragma GCC unroll 16
  for (int i = 0; i < vector; ++i) {
    if (i & S) continue;
    const Vector a = x[i], b = x[i + S];
    x[i] = lower_of<S>(a, b);
    x[i + S] = upper_of<S>(a, b);
  }
}

inline void transpose_square(Vector* x) {
  if constexpr (vector >= 16) exchange<8>(x);
  if constexpr (vector >= 8) exchange<4>(x);
  exchange<2>(x);
  exchange<1>(x);
}

void transpose(const float* in, Index in_step, Index rows, Index columns, const float* by_row, float* out,
               Index out_step) {
  // Writes the output a few rows at a time, each from beginning to end.
  for (Index column = 0; column < columns; column += vector) {
    for (Index row = 0; row < rows; row += vector) {
      const Index made = rows - row < vector ? rows - row : vector;
      const float* const from = in + row * in_step + column;
      float* const to = out + column * out_step + row;
      const Index wide = columns - column < vector ? columns - column : vector;
      if (made < vector || wide < vector) {
        for (Index c = 0; c < wide; ++c)
          for (Index r = 0; r < made; ++r)
            to[c * out_step + r] = by_row ? from[r * in_step + c] * by_row[row + r] : from[r * in_step + c];
        continue;
      }
      Vector x[vector];
#pragma GCC unroll 16
      for (int r = 0; r < vector; ++r) {
        x[r] = load(from + r * in_step);
        if (by_row) x[r] *= by_row[row + r];
      }
      transpose_square(x);
#pragma GCC unroll 16
      for (int c = 0; c < vector; ++c) store(to + c * out_step, x[c]);
    }
  }
}

bool finite(const float* x, Index count) {
  constexpr Index sums = 4;  // a single one would wait for itself
  Vector sum[sums] = {};     // x·0 is 0, or NaN
  Index i = 0;
  for (; i + sums * vector <= count; i += sums * vector)
#pragma GCC unroll 4
    for (Index v = 0; v < sums; ++v) sum[v] += load(x + i + v * vector) * 0.0f;
  float rest = 0.0f;
  for (; i < count; ++i) rest += x[i] * 0.0f;
  const Vector total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  for (int lane = 0; lane < vector; ++lane) rest += total[lane];
  return rest == 0.0f;
}

}  // namespace

extern const FusedKernels HEADWISE_TABLE(fused_kernels);
const FusedKernels HEADWISE_TABLE(fused_kernels) = {multiply,  softmax, adjust,  power_of_two,
                                                    transpose, write,   written, finite};

}  // namespace headwise
