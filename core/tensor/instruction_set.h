// For which machines the loops of this program are compiled, and which of them this one is.
#pragma once

#include <span>

namespace headwise {

enum class InstructionSet { plain, avx2, avx512 };

const char* instruction_set_name(InstructionSet set);  // "plain", "avx2", "avx512"

// Those that this build has, the plainest first; it runs on every machine.
std::span<const InstructionSet> instruction_sets();
bool machine_runs(InstructionSet set);

// The best that this machine runs, or the one that the environment variable HEADWISE_ISA names. Throws Error(usage)
// where that is none of them or this machine has not got it.
InstructionSet chosen_instruction_set();

}  // namespace headwise
