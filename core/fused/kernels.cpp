// Compiled once for each instruction set, with HEADWISE_ISA its name and HEADWISE_VECTOR the floats in one of its
// vectors. Includes nothing that could be instantiated elsewhere with other flags.
#include "core/fused/kernels.h"

#define HEADWISE_TEXT_OF(x) #x
#define HEADWISE_TEXT(x) HEADWISE_TEXT_OF(x)
#define HEADWISE_TABLE_OF(isa) fused_kernels_##isa
#define HEADWISE_TABLE(isa) HEADWISE_TABLE_OF(isa)

namespace headwise {
namespace {

constexpr int vector = HEADWISE_VECTOR;
// 16 registers hold 4 rows of 3 vectors, the 3 vectors of the panel and a number of the block; 32 hold 8 rows.
constexpr int block = HEADWISE_BLOCK;
constexpr int vectors = 3;
constexpr int lanes = vectors * vector;

using Vector = float __attribute__((vector_size(vector * 4), aligned(4), may_alias));
using Integers = std::int32_t __attribute__((vector_size(vector * 4), aligned(4), may_alias));
using Bits = std::uint32_t __attribute__((vector_size(vector * 4), aligned(4), may_alias));

inline Vector load(const float* at) {
  return *reinterpret_cast<const Vector*>(at);
}
inline void store(float* at, Vector value) {
  *reinterpret_cast<Vector*>(at) = value;
}
inline Vector all(float value) {
  return value - Vector{};
}  // x − 0 is x, and costs nothing

constexpr float infinity = __builtin_inff();

void multiply(const float* blocks, Index block_stride, Index count, Index depth, const float* right,
              float* panel, bool add) {
  for (Index b = 0; b < count; ++b) {
    const float* left = blocks + b * block_stride;
    float* out = panel + b * block * lanes;
    Vector sum[block][vectors];
#pragma GCC unroll 8
    for (int r = 0; r < block; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) sum[r][v] = add ? load(out + r * lanes + v * vector) : Vector{};
    const float* at = right;
    for (Index k = 0; k < depth; ++k) {
      Vector x[vectors];
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) x[v] = load(at + v * vector);
#pragma GCC unroll 8
      for (int r = 0; r < block; ++r) {
        const Vector l = all(left[r]);
#pragma GCC unroll 3
        for (int v = 0; v < vectors; ++v) sum[r][v] += l * x[v];
      }
      left += block;
      at += lanes;
    }
#pragma GCC unroll 8
    for (int r = 0; r < block; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) store(out + r * lanes + v * vector, sum[r][v]);
  }
}

// e^x for x ≤ 0 or NaN, to about one unit in the last place; below −87.3, where the result would be denormal, exactly 0.
// 2^n·e^r with |r| ≤ ln 2/2; e^r by its Taylor polynomial of degree 7, whose remainder there is below 3e-9.
inline Vector exponential(Vector x) {
  const Vector shifter = all(12582912.0f);  // 1.5·2^23: adding it rounds to a whole number
  const Vector n_shifted = x * 1.44269504088896341f + shifter;
  const Vector n = n_shifted - shifter;
  Vector r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  Vector p = r * 1.9841270e-4f + 1.3888889e-3f;
  p = p * r + 8.3333333e-3f;
  p = p * r + 4.1666667e-2f;
  p = p * r + 1.6666667e-1f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  // Lanes that vanish or are NaN wrap round here, and are not used.
  const Bits bits = reinterpret_cast<const Bits&>(n_shifted) << 23;
  const Bits result = reinterpret_cast<const Bits&>(p) + bits;
  const Vector value = reinterpret_cast<const Vector&>(result);
  const Integers vanishes = x < all(-87.3f);
  const Integers is_nan = x != x;
  const Vector zero{};
  return is_nan ? x : (vanishes ? zero : value);
}

void exponentials(float* scores, const float* bias, Index keys, float scale, float* maximum, float* sum,
                  float* shrink) {
  Vector largest[vectors], before[vectors];
  for (int v = 0; v < vectors; ++v) before[v] = largest[v] = load(maximum + v * vector);
  for (Index s = 0; s < keys; ++s) {
    float* row = scores + s * lanes;
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      Vector score = load(row + v * vector) * scale;
      if (bias) score += load(bias + s * lanes + v * vector);
      if (bias) store(row + v * vector, score);
      largest[v] = score > largest[v] ? score : largest[v];
    }
  }
  Vector from[vectors], total[vectors];
  for (int v = 0; v < vectors; ++v) {
    const Vector zero{};
    const Integers nothing_yet = largest[v] == all(-infinity);
    from[v] = nothing_yet ? zero : largest[v];
    const Vector factor = exponential(before[v] - from[v]);
    store(shrink + v * vector, factor);
    total[v] = load(sum + v * vector) * factor;
    store(maximum + v * vector, largest[v]);
  }
  const float left_to_scale = bias ? 1.0f : scale;
  for (Index s = 0; s < keys; ++s) {
    float* row = scores + s * lanes;
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      const Vector weight = exponential(load(row + v * vector) * left_to_scale - from[v]);
      store(row + v * vector, weight);
      total[v] += weight;
    }
  }
  for (int v = 0; v < vectors; ++v) store(sum + v * vector, total[v]);
}

void multiply_lanes(float* panel, Index rows, const float* factor) {
  for (Index r = 0; r < rows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      float* at = panel + r * lanes + v * vector;
      store(at, load(at) * load(factor + v * vector));
    }
}

}  // namespace

extern const FusedKernels HEADWISE_TABLE(HEADWISE_ISA);
const FusedKernels HEADWISE_TABLE(HEADWISE_ISA) = {
    HEADWISE_TEXT(HEADWISE_ISA), block, lanes, multiply, exponentials, multiply_lanes};

}  // namespace headwise
