// The line of PyTorch that does what a step does, with the sizes of this trace.
#pragma once

#include <string>
#include <vector>

#include "core/trace/steps.h"

namespace headwise {

struct CodeLine {
  std::string code;     // "scores = q_heads @ k_heads.transpose(-2, -1)"
  std::string comment;  // "(1,8,12,16) @ (1,8,16,12) → (1,8,12,12)"; may be empty
};

// For the picture of the step that makes `result` (project: q, k or v). Names are those of the trace, so the
// lines of all steps, one after the other, are a program. Empty where the trace has no such step.
std::vector<CodeLine> pytorch_lines(Step step, TensorId result, const Trace& trace);

}  // namespace headwise
