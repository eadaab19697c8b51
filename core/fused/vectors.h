// What only the fused backend does with vectors (core/tensor/vectors.h): pairs of them, and rows that are
// streamed to memory. Part of core/fused/kernels.cpp.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "core/fused/kernels.h"
#include "core/tensor/vectors.h"

namespace headwise {
namespace {

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

void written() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace
}  // namespace headwise
