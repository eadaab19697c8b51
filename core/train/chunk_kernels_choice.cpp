#include "core/tensor/instruction_set.h"
#include "core/train/chunk_work.h"

namespace headwise {

extern const ChunkKernels<float> chunk_kernels_float_plain;
extern const ChunkKernels<double> chunk_kernels_double_plain;
#ifdef HEADWISE_X86
extern const ChunkKernels<float> chunk_kernels_float_avx2, chunk_kernels_float_avx512;
extern const ChunkKernels<double> chunk_kernels_double_avx2, chunk_kernels_double_avx512;
#endif

template <>
const ChunkKernels<float>& chunk_kernels(InstructionSet set) {
#ifdef HEADWISE_X86
  if (set == InstructionSet::avx2) return chunk_kernels_float_avx2;
  if (set == InstructionSet::avx512) return chunk_kernels_float_avx512;
#endif
  (void)set;
  return chunk_kernels_float_plain;
}

template <>
const ChunkKernels<double>& chunk_kernels(InstructionSet set) {
#ifdef HEADWISE_X86
  if (set == InstructionSet::avx2) return chunk_kernels_double_avx2;
  if (set == InstructionSet::avx512) return chunk_kernels_double_avx512;
#endif
  (void)set;
  return chunk_kernels_double_plain;
}

}  // namespace headwise
