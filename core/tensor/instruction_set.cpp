#include "core/tensor/instruction_set.h"

#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {

const char* instruction_set_name(InstructionSet set) {
  constexpr const char* names[] = {"plain", "avx2", "avx512"};
  return names[static_cast<std::size_t>(set)];
}

std::span<const InstructionSet> instruction_sets() {
#ifdef __x86_64__
  static constexpr InstructionSet sets[] = {InstructionSet::plain, InstructionSet::avx2,
                                            InstructionSet::avx512};
#else
  static constexpr InstructionSet sets[] = {InstructionSet::plain};
#endif
  return sets;
}

bool machine_runs(InstructionSet set) {
#ifdef __x86_64__
  if (set == InstructionSet::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (set == InstructionSet::avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#endif
  return set == InstructionSet::plain;
}

namespace {

constexpr int none_in_scope = -1;
std::atomic<int> in_scope = none_in_scope;

InstructionSet wanted_instruction_set() {
  const char* const wanted = std::getenv("HEADWISE_ISA");
  std::optional<InstructionSet> best;
  std::vector<std::string> names;
  for (const InstructionSet set : instruction_sets()) {
    if (!machine_runs(set)) continue;
    const std::string name = instruction_set_name(set);
    names.push_back(name);
    if (!wanted || !*wanted || name == wanted) best = set;
  }
  if (best) return *best;
  throw Error(ExitStatus::usage, {.where = "HEADWISE_ISA",
                                  .what = "this machine has no such instruction set",
                                  .got = wanted,
                                  .expected = join(names, ", ")});
}

}  // namespace

InstructionSet chosen_instruction_set() {
  if (const int set = in_scope; set != none_in_scope) return static_cast<InstructionSet>(set);
  static const InstructionSet wanted = wanted_instruction_set();
  return wanted;
}

InstructionSetScope::InstructionSetScope(InstructionSet set) {
  in_scope = static_cast<int>(set);
}

InstructionSetScope::~InstructionSetScope() {
  in_scope = none_in_scope;
}

}  // namespace headwise
