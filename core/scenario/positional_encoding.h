// Sinusoidal positions: "Attention Is All You Need", section 3.5.
//   PE(pos, 2i) = sin(pos / 10000^(2i/d)),  PE(pos, 2i+1) = cos(pos / 10000^(2i/d))
// Here d = 2·pairs, so that pair i rotates by 10000^(-i/pairs) radians from one position to the next.
#pragma once

#include "core/tensor/shape.h"

namespace headwise {

// Radians per position of a sine-cosine pair, in (0,1]; 0 <= pair < pairs.
double sinusoid_frequency(Index pair, Index pairs);

}  // namespace headwise
