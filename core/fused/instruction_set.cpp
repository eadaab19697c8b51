#include <cstdlib>
#include <string>

#include "core/fused/kernels.h"
#include "core/tensor/error.h"

namespace headwise {

extern const FusedKernels fused_kernels_plain;
#ifdef HEADWISE_X86
extern const FusedKernels fused_kernels_avx2;
extern const FusedKernels fused_kernels_avx512;
#endif

FusedKernelList fused_kernels() {
#ifdef HEADWISE_X86
  static const FusedKernels* const tables[] = {&fused_kernels_plain, &fused_kernels_avx2,
                                               &fused_kernels_avx512};
  return {tables, 3};
#else
  static const FusedKernels* const tables[] = {&fused_kernels_plain};
  return {tables, 1};
#endif
}

bool machine_runs(const FusedKernels& kernels) {
#ifdef HEADWISE_X86
  if (&kernels == &fused_kernels_avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (&kernels == &fused_kernels_avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#endif
  return &kernels == &fused_kernels_plain;
}

const FusedKernels& chosen_fused_kernels() {
  const FusedKernelList list = fused_kernels();
  const char* const wanted = std::getenv("HEADWISE_ISA");
  const FusedKernels* best = nullptr;
  std::string names;
  for (int i = 0; i < list.count; ++i) {
    if (!machine_runs(*list.tables[i])) continue;
    names += (names.empty() ? "" : ", ") + std::string(list.tables[i]->name);
    if (!wanted || !*wanted || list.tables[i]->name == std::string(wanted)) best = list.tables[i];
  }
  if (best) return *best;
  throw Error(ExitStatus::usage, {.where = "HEADWISE_ISA",
                                  .what = "this machine has no such instruction set",
                                  .got = wanted,
                                  .expected = names});
}

}  // namespace headwise
