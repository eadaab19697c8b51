// The instruction sets that the loops of this program are compiled for, and the one of this machine.
#pragma once

#include <span>

namespace headwise {

enum class InstructionSet { plain, avx2, avx512 };

const char* instruction_set_name(InstructionSet set);  // "plain", "avx2", "avx512"

// Those that this build has, the most basic first; that one runs on every machine.
std::span<const InstructionSet> instruction_sets();
bool machine_runs(InstructionSet set);

// The best that this machine supports, or the one named by the environment variable HEADWISE_ISA. Throws
// Error(usage) if that is unknown or this machine does not support it.
InstructionSet chosen_instruction_set();

}  // namespace headwise
