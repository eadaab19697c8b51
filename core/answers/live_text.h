// Sentences with numbers of a trace in them, so that what a caption says stays true when the scenario is changed.
//
//   {scores[0,0,8,1]}            one cell
//   {sum attn_weights[0,0,8,:]}  over a box of cells, ':' or 'from:to' along an axis: sum, mean, max, min,
//                                deviation (of the population); all of a tensor where no box is given
//   {difference A[box] B[box]}   max |A − B| over two boxes of as many cells
//   {shape k_heads}              (1,8,12,16)
//   {E}                          a size, by its letter: N L S S′ E H G D Dv
//   {layouts output}             max |Δ| of the output between the three layouts of the input projection
//   {wide output}                max |Δ| of the output with one wide head (core/answers/head_width_comparison.h);
//   {wide scores}                of the heads' scores added up, {wide grad.NAME} of a gradient
//   {parameters}                 how many learnable numbers there are
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/trace/trace.h"

namespace headwise {

// Whether the answers that take runs of the operator of their own (layouts, wide) are computed.
enum class LiveAnswers { all, quick };

// The text with its numbers. What this trace does not have (a tensor that is absent, a cell beyond its sizes, an answer
// that is not possible or would not fit in memory) becomes "–", an answer that is not to be computed "…". What
// check_live_text refuses stays as it is written.
std::string live_text(std::string_view text, const Trace& trace, LiveAnswers answers = LiveAnswers::all);

// The numbers of the text, as they are written in its braces, for which this trace has none: "max scores[0,0,99,:]".
std::vector<std::string> live_gaps(std::string_view text, const Trace& trace);

// Throws Error(usage) for a brace without its partner and for a number that nobody could make: an unknown tensor,
// letter or word, a box that cannot be read.
void check_live_text(std::string_view text);

// Three digits, with a real minus sign: "0.0832", "−12.3", "1.22e−7", "−∞", "NaN".
std::string live_number(double value);

}  // namespace headwise
