// Compiled once for each instruction set, where HEADWISE_ISA is its name, HEADWISE_VECTOR the number of
// floats in one of its vectors and HEADWISE_BLOCK the number of concurrent sums: enough to hide the latency
// of one, and no more than there are registers.
#include "core/fused/machine_speed.h"

#define HEADWISE_TABLE_OF(isa) peak_kernel_##isa
#define HEADWISE_TABLE(isa) HEADWISE_TABLE_OF(isa)

namespace headwise {
namespace {

constexpr int vector = HEADWISE_VECTOR;
constexpr int sums = HEADWISE_BLOCK;

using Vector = float __attribute__((vector_size(vector * 4)));

float run(std::int64_t rounds) {
  Vector sum[sums];
  for (int i = 0; i < sums; ++i) sum[i] = Vector{} + 1e-9f * static_cast<float>(i);
  Vector factor = Vector{} + 0.5f, term = Vector{} + 1e-6f;
#if defined(__x86_64__)
  asm volatile("" : "+x"(factor), "+x"(term));  // hides their values from the compiler
#endif
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (int i = 0; i < sums; ++i) sum[i] = sum[i] * factor + term;
  }
  Vector total{};
  for (int i = 0; i < sums; ++i) total += sum[i];
  return total[0];
}

}  // namespace

extern const PeakKernel HEADWISE_TABLE(HEADWISE_ISA);
const PeakKernel HEADWISE_TABLE(HEADWISE_ISA) = {2 * vector * sums, run};

}  // namespace headwise
