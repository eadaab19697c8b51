// Compiled once for each instruction set, where HEADWISE_ISA is its name and HEADWISE_VECTOR the number of
// floats in one of its vectors. Includes nothing that could be instantiated elsewhere with other flags.
#include "core/fused/kernels.h"

#include "core/fused/product_kernel.h"
#include "core/fused/softmax_kernel.h"
#include "core/fused/stream_kernel.h"
#include "core/fused/transpose_kernel.h"
#include "core/fused/vectors.h"

#define HEADWISE_TEXT_OF(x) #x
#define HEADWISE_TEXT(x) HEADWISE_TEXT_OF(x)
#define HEADWISE_TABLE_OF(isa) fused_kernels_##isa
#define HEADWISE_TABLE(isa) HEADWISE_TABLE_OF(isa)

namespace headwise {
namespace {

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

extern const FusedKernels HEADWISE_TABLE(HEADWISE_ISA);
const FusedKernels HEADWISE_TABLE(HEADWISE_ISA) = {
    HEADWISE_TEXT(HEADWISE_ISA), multiply, softmax, adjust, power_of_two, transpose, write, written, finite};

}  // namespace headwise
