// Vectors of one instruction set, for the files that are compiled once per instruction set
// (core/fused/kernels.cpp). HEADWISE_VECTOR is the number of floats in one. In an unnamed namespace, so that
// the linker never merges functions of two builds.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "core/fused/kernels.h"

namespace headwise {
namespace {

constexpr int vector = HEADWISE_VECTOR;

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

// b if a is NaN.
inline Vector larger(Vector a, Vector b) {
  return a > b ? a : b;
}

constexpr float infinity = __builtin_inff();

inline Integers lane_numbers() {
  Integers lanes;
  for (int i = 0; i < vector; ++i) lanes[i] = i;
  return lanes;
}

// Separates the lanes of two vectors by bit S of their number: those of both with the bit clear,
// and those with it set.
template <int S>
inline Vector lower_of(Vector a, Vector b) {
  Integers from;
  for (int i = 0; i < vector; ++i) from[i] = (i & S) ? vector + i - S : i;
  return __builtin_shuffle(a, b, from);
}
template <int S>
inline Vector upper_of(Vector a, Vector b) {
  Integers from;
  for (int i = 0; i < vector; ++i) from[i] = (i & S) ? vector + i : i + S;
  return __builtin_shuffle(a, b, from);
}

}  // namespace
}  // namespace headwise
