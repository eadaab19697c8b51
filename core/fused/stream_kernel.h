// Rows on their way to memory. Part of core/fused/kernels.cpp.
#pragma once

#include "core/fused/vectors.h"

namespace headwise {
namespace {

// A store that does not ask for the line first; `at` is aligned to a vector.
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

inline void stream(const float* in, Index count, float factor, float* out) {
  Index i = 0;
  for (; i < count && reinterpret_cast<std::uintptr_t>(out + i) % (vector * 4) != 0; ++i)
    out[i] = in[i] * factor;
  for (; i + vector <= count; i += vector) store_past(out + i, load(in + i) * factor);
  for (; i < count; ++i) out[i] = in[i] * factor;
}

void write(FusedRows& rows, Index count) {
  if (rows.at_row >= rows.rows) return;
  while (count > 0 && rows.at_row < rows.rows) {
    const Index part = rows.at_column / rows.part;
    Index end = (part + 1) * rows.part;
    end = end < rows.columns ? end : rows.columns;
    Index piece = end - rows.at_column;
    piece = piece < count ? piece : count;
    stream(rows.in + rows.at_row * rows.in_row + rows.at_column, piece,
           rows.factors[rows.at_row * rows.parts + part],
           rows.out + rows.at_row * rows.out_row + rows.at_column);
    count -= piece;
    rows.at_column += piece;
    if (rows.at_column == rows.columns) {
      rows.at_column = 0;
      ++rows.at_row;
    }
  }
#ifdef __SSE2__
  if (rows.at_row == rows.rows) _mm_sfence();  // before anybody is told that they are there
#endif
}

}  // namespace
}  // namespace headwise
