// Streams rows to memory. Part of core/fused/kernels.cpp.
#pragma once

#include "core/fused/vectors.h"

namespace headwise {
namespace {

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
