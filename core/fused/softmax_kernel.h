// The online softmax of a strip of scores (Milakov and Gimelshein 2018). Part of core/fused/kernels.cpp.
#pragma once

#include "core/fused/vectors.h"

namespace headwise {
namespace {

// 2^x for x ≤ 0 or NaN, to about one unit in the last place. NaN stays NaN; below −126, where the result
// would be denormal, it is exactly 0 (with AVX-512 during the lifetime of a FlushDenormals). The polynomials,
// of degree 5, are fitted for the least relative error: 9e-8.
#ifdef __AVX512DQ__
inline Vector two_to(Vector x) {
  const auto r =
      static_cast<Vector>(_mm512_maskz_reduce_ps(0xffff, static_cast<__m512>(x), 9));  // x − ⌊x⌋; 0 for −∞
  Vector p = r * 1.8671302e-3f + 9.0170298e-3f;
  p = p * r + 5.5799913e-2f;
  p = p * r + 2.4016444e-1f;
  p = p * r + 6.9315130e-1f;
  p = p * r + 1.0f;
  return static_cast<Vector>(
      _mm512_maskz_scalef_ps(0xffff, static_cast<__m512>(p), static_cast<__m512>(x)));  // p·2^⌊x⌋
}
#else
inline Vector two_to(Vector x) {
  const Vector shifter = all(12582912.0f);  // 1.5·2^23: adding it rounds to an integer
  const Vector n_shifted = x + shifter;
  const Vector r = x - (n_shifted - shifter);
  Vector p = r * 1.3264727e-3f + 9.6715130e-3f;
  p = p * r + 5.5507336e-2f;
  p = p * r + 2.4022242e-1f;
  p = p * r + 6.9314700e-1f;
  p = p * r + 1.0f;
  // Lanes that vanish or are NaN wrap around here, and are not used.
  const Bits bits = reinterpret_cast<const Bits&>(n_shifted) << 23;
  const Bits result = reinterpret_cast<const Bits&>(p) + bits;
  const Integers vanishes = x < all(-126.0f);
  const Integers is_nan = x != x;
  const Vector zero{};
  return is_nan ? x : (vanishes ? zero : reinterpret_cast<const Vector&>(result));
}
#endif

// Flushes denormals to 0 in this thread during its lifetime.
class FlushDenormals {
 public:
#ifdef __SSE2__
  FlushDenormals() : before_(_mm_getcsr()) {
    _mm_setcsr(before_ | 0x8000u);
  }
  ~FlushDenormals() {
    _mm_setcsr(before_);
  }

 private:
  unsigned before_;
#endif
};

// The largest of each of `vector` vectors: lane i of the result is that of in[i].
inline Vector largest_of_each(Vector* in) {
#pragma GCC unroll 8
  for (int i = 0; i < vector; i += 2)
    in[i] = larger(lower_of<1>(in[i], in[i + 1]), upper_of<1>(in[i], in[i + 1]));
#pragma GCC unroll 4
  for (int i = 0; i < vector; i += 4)
    in[i] = larger(lower_of<2>(in[i], in[i + 2]), upper_of<2>(in[i], in[i + 2]));
  if constexpr (vector >= 8) {
#pragma GCC unroll 2
    for (int i = 0; i < vector; i += 8)
      in[i] = larger(lower_of<4>(in[i], in[i + 4]), upper_of<4>(in[i], in[i + 4]));
  }
  if constexpr (vector >= 16) in[0] = larger(lower_of<8>(in[0], in[8]), upper_of<8>(in[0], in[8]));
  return in[0];
}

// Keys [from, to) take part: the vectors that contain them, as floats from the first up to `end`. Lanes of
// these that do not take part become −∞, the other vectors 0.
struct RowReach {
  Index begin = 0, end = 0;
};
inline RowReach close_row(float* row, Index columns, Index from, Index to) {
  constexpr Index part = vector - 1;
  RowReach reach;
  if (to > columns) to = columns;
  if (from < 0) from = 0;
  if (to > from) reach = {from & ~part, (to + part) & ~part};
  const auto close = [&](Index first) {
    const Integers key = lane_numbers() + static_cast<std::int32_t>(first);
    const Integers takes_part =
        (key >= static_cast<std::int32_t>(from)) & (key < static_cast<std::int32_t>(to));
    store(row + first, takes_part ? load(row + first) : all(-infinity));
  };
  if (to > from) {
    if (from & part) close(reach.begin);
    if (to & part) close(reach.end - vector);
  }
  for (Index c = 0; c < reach.begin; c += vector) store(row + c, Vector{});
  for (Index c = reach.end; c < columns; c += vector) store(row + c, Vector{});
  return reach;
}

// The maximum number of rows in a strip.
constexpr Index most_rows = panel_lanes;

inline Vector largest_of(const float* row, RowReach reach) {
  Vector a = all(-infinity), b = a;
  Index c = reach.begin;
  for (; c + 4 * vector <= reach.end; c += 4 * vector) {
    a = larger(load(row + c), a);
    b = larger(load(row + c + vector), b);
    a = larger(load(row + c + 2 * vector), a);
    b = larger(load(row + c + 3 * vector), b);
  }
  for (; c < reach.end; c += vector) a = larger(load(row + c), a);
  return larger(a, b);
}

inline Vector weigh(float* row, RowReach reach, float scale, float maximum, Vector total) {
  Vector other{};
  const Vector m = all(maximum);
  Index c = reach.begin;
  for (; c + 4 * vector <= reach.end; c += 4 * vector) {
    Vector weight[4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) weight[v] = two_to(load(row + c + v * vector) * scale - m);
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) store(row + c + v * vector, weight[v]);
    total += weight[0] + weight[1];
    other += weight[2] + weight[3];
  }
  for (; c < reach.end; c += vector) {
    const Vector weight = two_to(load(row + c) * scale - m);
    store(row + c, weight);
    total += weight;
  }
  return total + other;
}

void softmax(const FusedSoftmax& s) {
  [[maybe_unused]] const FlushDenormals flush;  // empty without SSE2
  const float scale = s.scale * 1.44269504088896341f;
  RowReach reach[most_rows];
  Vector subtracted[most_rows / vector], factor[most_rows / vector];
  for (Index row = 0; row < s.rows; row += vector) {
    const Index rows = s.rows - row < vector ? s.rows - row : vector;
    Vector largest[vector];
    for (Index r = 0; r < vector; ++r) {
      if (r < rows && s.largest_columns == s.columns) {
        reach[row + r] = {0, s.columns};
        largest[r] = load(s.largest + (row + r) * widest_vector);
      } else if (r < rows) {
        float* const at = s.scores + (row + r) * s.step;
        reach[row + r] = close_row(at, s.columns, s.from[row + r], s.to[row + r]);
        const Vector known =
            s.largest_columns > 0 ? load(s.largest + (row + r) * widest_vector) : all(-infinity);
        const Index first = reach[row + r].begin > s.largest_columns ? reach[row + r].begin : s.largest_columns;
        largest[r] = larger(largest_of(at, {first, reach[row + r].end}), known);
      } else {
        largest[r] = all(-infinity);
      }
    }
    const Vector before = load(s.maximum + row);
    const Vector after = larger(largest_of_each(largest) * scale, before);
    const Vector zero{};
    const Integers nothing_yet = after == all(-infinity);
    const Vector from = nothing_yet ? zero : after;
    const Vector shrink = two_to(before - from);
    store(s.maximum + row, after);
    store(s.shrink + row, shrink);
    subtracted[row / vector] = from;
    factor[row / vector] = shrink;
  }
  const float* const maximum = reinterpret_cast<const float*>(subtracted);
  const float* const shrink = reinterpret_cast<const float*>(factor);
  for (Index row = 0; row < s.rows; ++row) {
    float* const sums = s.sums + row * widest_vector;
    store(sums, weigh(s.scores + row * s.step, reach[row], scale, maximum[row], load(sums) * shrink[row]));
  }
}

void adjust(float* x, Index count, float scale, const float* bias, const float* fill) {
  for (Index i = 0; i < count; i += vector) {
    Vector value = load(x + i) * scale;
    if (bias) {
      const Vector added = load(bias + i);
      value += added;
      if (fill) value = added == all(-infinity) ? all(*fill) : value;
    }
    store(x + i, value);
  }
}

void power_of_two(const float* x, Index count, float* out) {
  [[maybe_unused]] const FlushDenormals flush;  // empty without SSE2
  for (Index i = 0; i < count; i += vector) store(out + i, two_to(load(x + i)));
}

}  // namespace
}  // namespace headwise
