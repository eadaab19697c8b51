// The instruction sets that the loops of this program are compiled for, and the one in use.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace headwise {

enum class InstructionSet { plain, avx2, avx512 };

const char* instruction_set_name(InstructionSet set);  // "plain", "avx2", "avx512"

// Those that this build has, the most basic first; that one runs on every machine.
std::span<const InstructionSet> instruction_sets();
bool machine_runs(InstructionSet set);

// The best that this machine supports, or the one named by the environment variable HEADWISE_ISA when this is
// first asked. Throws Error(usage) if that is unknown or this machine does not support it.
InstructionSet chosen_instruction_set();

// During its lifetime this one, which the machine runs, is the one in use, in every thread. For comparing
// instruction sets; not for concurrent use.
class InstructionSetScope {
 public:
  explicit InstructionSetScope(InstructionSet set);
  ~InstructionSetScope();
  InstructionSetScope(const InstructionSetScope&) = delete;
  InstructionSetScope& operator=(const InstructionSetScope&) = delete;
};

// Defines `const Kernels& name(InstructionSet)`: of the builds of one file (headwise_kernels in
// core/CMakeLists.txt) the one for that instruction set.
#ifdef __x86_64__
#define HEADWISE_KERNELS(Kernels, name)                                                            \
  extern const Kernels name##_plain, name##_avx2, name##_avx512;                                   \
  const Kernels& name(InstructionSet set) {                                                        \
    return *std::array{&name##_plain, &name##_avx2, &name##_avx512}[static_cast<std::size_t>(set)]; \
  }
#else
#define HEADWISE_KERNELS(Kernels, name)  \
  extern const Kernels name##_plain;     \
  const Kernels& name(InstructionSet) {  \
    return name##_plain;                 \
  }
#endif

}  // namespace headwise
