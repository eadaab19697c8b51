// Sentences with numbers of a trace in them, so that a caption stays true when the scenario changes.
//
// Numbers
//   {scores[0,0,8,1]}            one cell; a negative index counts from the end: {scores[0,0,-1,0]}
//   {sum attn_weights[0,0,8,:]}  over a box of cells, ':' or 'from:to' along an axis: sum, mean, max, min, deviation (of the
//                                population), finite (how many of them are), distinct (how many different
//                                numbers there are); the whole tensor if no box is given
//   {argmax attn_weights[0,0,8,:]}  the position of the largest, counted from 0 in the box; the first if tied
//   {difference A[box] B[box]}   max |A − B| over two boxes with the same number of cells
//   {shape k_heads}              (1,8,12,16)
//   {E}                          a size, by its letter: N L S S′ E H G D Dv
//   {scale}                      the factor of the scores: attention.scale or 1/√D, over the temperature
//   {query 8} {key -1}           the token at a position; {key argmax attn_weights[0,0,8,:]} the token at such a position
//   {role 0}                     the role of a hand-made head: "previous word"
//   {frozen 0}                   1 if the head is frozen, else 0
//   {habit induction 2}          how strongly head 2 does that here, 0 … 1: a score of core/model/heads/head_scores.h, of batch 0
//   {trained loss}               of a model by `headwise train`: step, or loss and accuracy on examples that it was not trained on
//   {spread 4}                   the deviation of the sums of a score's first 4 products, over all pairs of all heads
//   {turn 0}                     by how many radians RoPE turns pair 0 of columns from one position to the next; {turn -1} the last pair
//   {stretch 0}                  how many times more slowly it turns than attention.rotary_base says (rotary_scaling)
//   {mask.value}                 a setting of the scenario, by its path
//   {layouts output}             max |Δ| of the output between the three layouts of the input projection, or
//                                between the two of multi_head_latent_attention
//   {wide output}                max |Δ| of the output with one wide head (core/lessons/head_width_comparison.h);
//   {wide scores}                of the sum of the heads' scores, {wide grad.NAME} of a gradient
//   {parameters}                 the number of learnable parameters
//   {= √D * scale}               an expression of them (core/lessons/live_expression.h)
//
// Claims
//   {if max attn_weights > 0.9: Sharp. | if max attn_weights > 0.5: Less so. | else: Flat.}
//
// The first part whose condition holds is shown, unless the trace lacks one of its numbers. Without an
// `else`, or if that lacks a number, possibly no part is shown: then the text is incomplete, and the page
// says that it was changed. Parts may be nested. A claim is written so that its condition is what makes it
// true: whoever changes the page then sees another part or none, never a false sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/lessons/live_value.h"

namespace headwise {

// A part of the text that is shown because its condition holds.
struct LiveClaim {
  std::string condition;  // as written; empty: else
  std::string written;    // the part with its braces
  std::string text;       // the part as shown
};

struct LiveWords {
  std::string text;
  std::vector<LiveClaim> claims;  // those shown, outer ones after those nested in them
  // numbers outside of all parts that are missing from this trace: "max scores[0,0,99,:]"
  std::vector<std::string> gaps;
  std::vector<std::string> dropped;  // choices without any part shown: their first conditions
  bool complete() const { return gaps.empty() && dropped.empty(); }
};

// The text with its numbers and with those of its parts that hold. What this trace does not have (a tensor
// that is absent, a cell out of range, an answer that is impossible or would not fit in memory) becomes "–",
// an answer that is not to be computed "…". What check_live_text rejects stays as written.
LiveWords live_words(std::string_view text, const LiveSubject& subject, LiveAnswers answers = LiveAnswers::all);
std::string live_text(std::string_view text, const LiveSubject& subject,
                      LiveAnswers answers = LiveAnswers::all);

// The text without a trace, to be searched: of each choice its longest part, and "…" for a number.
std::string plain_live_text(std::string_view text);

// Throws Error(usage) for an unmatched brace, an impossible number (an unknown tensor, letter or word, an
// invalid box) and an invalid condition.
void check_live_text(std::string_view text);

// Three digits, with a real minus sign: "0.083", "−12.3", "1,234", "1.22e−7", "−∞", "NaN".
std::string live_number(double value);

// The quantities that the text may show or a condition of it may read, each once.
std::vector<LiveQuantity> live_quantities(std::string_view text);

}  // namespace headwise
