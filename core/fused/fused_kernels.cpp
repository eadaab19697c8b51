#include "core/fused/kernels.h"
#include "core/tensor/instruction_set.h"

namespace headwise {

extern const FusedKernels fused_kernels_plain;
#ifdef HEADWISE_X86
extern const FusedKernels fused_kernels_avx2;
extern const FusedKernels fused_kernels_avx512;
#endif

const FusedKernels& fused_kernels(InstructionSet set) {
#ifdef HEADWISE_X86
  if (set == InstructionSet::avx2) return fused_kernels_avx2;
  if (set == InstructionSet::avx512) return fused_kernels_avx512;
#endif
  (void)set;
  return fused_kernels_plain;
}

const FusedKernels& chosen_fused_kernels() {
  return fused_kernels(chosen_instruction_set());
}

}  // namespace headwise
