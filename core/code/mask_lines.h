// How all masks of a trace become the one bias that is added to the scores, in Python.
#pragma once

#include <vector>

#include "core/code/code_dialect.h"
#include "core/code/code_lines.h"

namespace headwise {

// The lines that make mask_bias (N,H,L,S′), always with N and H apart. Nothing where the trace has no mask.
std::vector<CodeLine> mask_bias_lines(const CodeDialect& dialect, const Trace& trace);

}  // namespace headwise
