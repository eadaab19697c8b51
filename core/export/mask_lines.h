// How all masks of a trace are combined, in Python: into the one bias that is added to the scores, or into
// flex_attention's functions of one score.
#pragma once

#include <vector>

#include "core/attention/trace.h"
#include "core/export/code_lines.h"
#include "core/export/code_style.h"

namespace headwise {

// The lines that compute mask_bias (N,H,L,S′), always with separate N and H. Empty if the trace has no mask.
std::vector<CodeLine> mask_bias_lines(const CodeDialect& dialect, const Trace& trace);
// The lines of them that compute position_bias (1,H,L,S′). The trace has a relative bias.
std::vector<CodeLine> position_bias_lines(const CodeDialect& dialect, const Trace& trace);

// `def mask_mod(b, h, q, kv)`: whether key kv takes part in row q of head h; `def score_mod(score, b, h, q,
// kv)`: what becomes of a scaled score. With `scaled`, the latter begins with a call of the program's
// `scaled(score)`.
struct MaskFunctions {
  std::vector<CodeLine> lines;  // of both, and what they read
  bool has_mask_mod = false, has_score_mod = false;
};
MaskFunctions mask_functions(const CodeDialect& dialect, const Trace& trace, bool scaled);

}  // namespace headwise
