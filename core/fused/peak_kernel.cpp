// Compiled once for each instruction set (core/fused/vectors.h).
#include "core/fused/machine_speed.h"
#include "core/fused/vectors.h"

namespace headwise {
namespace {

// Concurrent: enough to hide the latency of one, and no more than there are registers.
constexpr int sums = vector == 16 ? 24 : 12;

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

extern const PeakKernel HEADWISE_TABLE(peak_kernel);
const PeakKernel HEADWISE_TABLE(peak_kernel) = {2 * vector * sums, run};

}  // namespace headwise
