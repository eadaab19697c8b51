// How all masks of a trace are combined into the one bias added to the scores, in Python.
#pragma once

#include <vector>

#include "core/code/code_dialect.h"
#include "core/code/code_lines.h"

namespace headwise {

// The lines that compute mask_bias (N,H,L,S′), always with separate N and H. Empty if the trace has no mask.
std::vector<CodeLine> mask_bias_lines(const CodeDialect& dialect, const Trace& trace);

}  // namespace headwise
