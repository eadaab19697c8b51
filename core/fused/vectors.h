// Vectors of f32 of one instruction set, for the kernels that are compiled once for each (headwise_kernels in
// core/CMakeLists.txt): HEADWISE_VECTOR_BYTES is how wide they are. In an unnamed namespace, so that the
// linker never merges functions of two builds. Part of core/fused/kernels.cpp.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "core/fused/kernels.h"
#include "core/tensor/kernel_table.h"

namespace headwise {
namespace {

constexpr int vector = HEADWISE_VECTOR_BYTES / sizeof(float);

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

// The sums of a tile of a product in registers.
template <int Rows, int Vectors>
using Sums = Vector[Rows][Vectors];

// sum += l·x. Where the sums fill the registers, in one instruction that the compiler cannot rearrange: it
// would add into the register of a factor, then copy, and put sums into memory (three reads a step more).
inline void multiply_add(Vector l, Vector x, Vector& sum) {
#if defined(__FMA__) && !defined(__AVX512F__)
  asm volatile("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(l), "x"(x));
#else
  sum += l * x;
#endif
}

// One step of the depth: sum[r] += left[r][at]·right.
template <int Rows, int Vectors>
inline void step(const float* const* left, std::int64_t at, const float* right, Sums<Rows, Vectors>& sum) {
  Vector x[Vectors];
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) x[v] = load(right + v * vector);
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r) {
    const Vector l = all(left[r][at]);
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) multiply_add(l, x[v], sum[r][v]);
  }
}

// b if a is NaN.
inline Vector larger(Vector a, Vector b) {
  return a > b ? a : b;
}

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

// A store that does not fetch the cache line first; `at` is aligned to a vector.
inline void store_past(float* at, Vector value) {
#if defined(__AVX512F__)
  _mm512_stream_ps(at, static_cast<__m512>(value));
#elif defined(__AVX__)
  _mm256_stream_ps(at, static_cast<__m256>(value));
#elif defined(__SSE2__)
  _mm_stream_ps(at, static_cast<__m128>(value));
#else
  store(at, value);
#endif
}

inline bool is_aligned(const float* at) {
  return reinterpret_cast<std::uintptr_t>(at) % (vector * 4) == 0;
}

inline void write(const float* in, Index count, float factor, float* out) {
  const auto value = [&](Index i) { return (in ? in[i] : 0.0f) * factor; };
  Index i = 0;
  for (; i < count && !is_aligned(out + i); ++i) out[i] = value(i);
  for (; i + vector <= count; i += vector)
    store_past(out + i, in ? load(in + i) * factor : all(0.0f * factor));
  for (; i < count; ++i) out[i] = value(i);
}

inline void written() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace
}  // namespace headwise
