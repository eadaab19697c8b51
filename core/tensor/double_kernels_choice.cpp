#include <atomic>

#include "core/tensor/double_kernels.h"
#include "core/tensor/instruction_set.h"

namespace headwise {

extern const DoubleKernels double_kernels_plain;
#ifdef HEADWISE_X86
extern const DoubleKernels double_kernels_avx2;
extern const DoubleKernels double_kernels_avx512;
#endif

namespace {

std::atomic<const DoubleKernels*> chosen_set{nullptr};

}  // namespace

const DoubleKernels& double_kernels(InstructionSet set) {
#ifdef HEADWISE_X86
  if (set == InstructionSet::avx2) return double_kernels_avx2;
  if (set == InstructionSet::avx512) return double_kernels_avx512;
#endif
  (void)set;
  return double_kernels_plain;
}

const DoubleKernels& chosen_double_kernels() {
  if (const DoubleKernels* kernels = chosen_set.load()) return *kernels;
  static const DoubleKernels& chosen = double_kernels(chosen_instruction_set());
  return chosen;
}

DoubleKernelsScope::DoubleKernelsScope(InstructionSet set) {
  chosen_set = &double_kernels(set);
}

DoubleKernelsScope::~DoubleKernelsScope() {
  chosen_set = nullptr;
}

}  // namespace headwise
