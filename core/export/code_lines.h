// Each step as the lines of Python that do it, with the sizes of this trace.
#pragma once

#include <string>
#include <vector>

#include "core/attention/steps.h"
#include "core/export/code_style.h"

namespace headwise {

struct CodeLine {
  std::string code;     // "scores = q_heads @ k_heads.transpose(-2, -1)"
  std::string comment;  // "(1,8,12,16) @ (1,8,16,12) → (1,8,12,12)"; may be empty
};

// The variable that holds a tensor: its name, with "." written as "_".
std::string code_variable(TensorId id);

// The lines for the picture of the step that computes `result` (project: q, k or v). Variables have the names
// of the trace's tensors, so the lines of all steps, in order, are a program: core/export/program.h adds the
// arrays. Empty if the trace has no such step.
std::vector<CodeLine> code_lines(CodeStyle style, Step step, TensorId result, const Trace& trace);

// What flex_attention has no argument for: then its style writes the steps as pytorch does.
std::vector<std::string> missing_in_flex(const Trace& trace);
// Whether the lines of a style compute the tensor: scores and weights stay inside flex_attention.
bool code_computes(CodeStyle style, const Trace& trace, TensorId tensor);

}  // namespace headwise
