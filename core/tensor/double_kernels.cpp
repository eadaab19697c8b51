// Compiled once for each instruction set (core/tensor/vectors.h). Includes nothing that could be instantiated
// elsewhere with other flags.
#include "core/tensor/double_kernels.h"

#include "core/tensor/vectors.h"

namespace headwise {
namespace {

constexpr int columns = static_cast<int>(DoubleKernels::columns);
constexpr int vectors = columns / vector;
// As many as the registers hold: twelve sums, or eight of the narrowest vectors.
constexpr int rows = vector == 2 ? 2 : 12 / vectors;

using Floats = float __attribute__((vector_size(vector * 4), aligned(4), may_alias));

void multiply(const double* left, const double* right, Index depth, double* out, Index out_step,
              Index made_rows, Index made_columns, bool add) {
  double edge[rows * columns];  // for tiles that extend beyond the end of `out`
  const bool whole = made_rows == rows && made_columns == columns;
  if (!whole && add) {
    for (Index r = 0; r < made_rows; ++r)
      for (Index c = 0; c < made_columns; ++c) edge[r * columns + c] = out[r * out_step + c];
  }
  double* const to = whole ? out : edge;
  const Index step = whole ? out_step : columns;
  Vector sum[rows][vectors];
#pragma GCC unroll 12
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      sum[r][v] = add && r < made_rows ? load(to + r * step + v * vector) : Vector{};
  for (Index k = 0; k < depth; ++k) {
    Vector x[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) x[v] = load(right + v * vector);
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) {
      const Vector l = all(left[r]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[r][v] += l * x[v];
    }
    left += rows;
    right += columns;
  }
#pragma GCC unroll 12
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) store(to + r * step + v * vector, sum[r][v]);
  if (whole) return;
  for (Index r = 0; r < made_rows; ++r)
    for (Index c = 0; c < made_columns; ++c) out[r * out_step + c] = edge[r * columns + c];
}

double largest(const double* x, Index count) {
  Vector most[vectors];
  for (int v = 0; v < vectors; ++v) most[v] = all(-infinity);
  Index i = 0;
  for (; i + columns <= count; i += columns)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const Vector here = load(x + i + v * vector);
      most[v] = here > most[v] ? here : most[v];
    }
  double lanes[columns], result = -infinity;
  for (int v = 0; v < vectors; ++v) store(lanes + v * vector, most[v]);
  for (int c = 0; c < columns; ++c) result = lanes[c] > result ? lanes[c] : result;
  for (; i < count; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

// e^x for x ≤ 0 or NaN; below −746, where it would round to 0, exactly 0.
inline Vector exponential(Vector x) {
  const auto [p, power] = wide_exponential(x);
  // A denormal result is computed 2^200 times too large, and rounded once. Lanes that vanish or are NaN wrap
  // around here, and are not used.
  const Integers denormal = x < all(-708.0);
  const Bits up = reinterpret_cast<const Bits&>(denormal) & (std::uint64_t{200} << 52);
  const Bits bits = power + up;
  const Bits result = reinterpret_cast<const Bits&>(p) + bits;
  const Vector down = denormal ? all(0x1p-200) : all(1.0);
  const Vector value = reinterpret_cast<const Vector&>(result) * down;
  const Integers vanishes = x < all(-746.0);
  const Integers is_nan = x != x;
  const Vector zero{};
  return is_nan ? x : (vanishes ? zero : value);
}

double exponentials(const double* x, double minus, Index count, double* to) {
  Vector total[vectors];
  for (int v = 0; v < vectors; ++v) total[v] = Vector{};
  Index i = 0;
  for (; i + columns <= count; i += columns)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const Vector e = exponential(load(x + i + v * vector) - all(minus));
      store(to + i + v * vector, e);
      total[v] += e;
    }
  if (i < count) {
    double last[columns];
    for (int c = 0; c < columns; ++c) last[c] = i + c < count ? x[i + c] - minus : -infinity;
    for (int v = 0; v < vectors; ++v) {
      const Vector e = exponential(load(last + v * vector));
      store(last + v * vector, e);
      total[v] += e;
    }
    for (int c = 0; i + c < count; ++c) to[i + c] = last[c];
  }
  double sums[columns];
  for (int v = 0; v < vectors; ++v) store(sums + v * vector, total[v]);
  for (int half = columns / 2; half > 0; half /= 2)
    for (int c = 0; c < half; ++c) sums[c] += sums[c + half];
  return sums[0];
}

bool narrow(const double* from, Index count, float* to) {
  Vector most{};  // of the finite numbers
  Index i = 0;
  for (; i + vector <= count; i += vector) {
    const Vector x = load(from + i);
    *reinterpret_cast<Floats*>(to + i) = __builtin_convertvector(x, Floats);
    const Vector size = x < Vector{} ? -x : x;
    const Vector zero{};
    const Vector finite = size < all(infinity) ? size : zero;
    most = finite > most ? finite : most;
  }
  double result = 0.0;
  for (int c = 0; c < vector; ++c) result = most[c] > result ? most[c] : result;
  for (; i < count; ++i) {
    to[i] = static_cast<float>(from[i]);
    const double size = __builtin_fabs(from[i]);
    if (size < infinity && size > result) result = size;
  }
  return result < 0x1.ffffffp127;  // half-way between the largest float and the next number
}

}  // namespace

extern const DoubleKernels HEADWISE_TABLE(double_kernels);
const DoubleKernels HEADWISE_TABLE(double_kernels) = {rows, multiply, largest, exponentials, narrow};

}  // namespace headwise
