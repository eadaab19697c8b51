// Sentences with numbers of a trace in them, so that what a caption says stays true when the scenario is changed.
//
// Numbers
//   {scores[0,0,8,1]}            one cell; an index below 0 counts from the end: {scores[0,0,-1,0]}
//   {sum attn_weights[0,0,8,:]}  over a box of cells, ':' or 'from:to' along an axis: sum, mean, max, min, deviation (of the
//                                population), finite (how many of them are); all of a tensor where no box is given
//   {argmax attn_weights[0,0,8,:]}  where the largest stands, counted from 0 in the box; the first of equals
//   {difference A[box] B[box]}   max |A − B| over two boxes of as many cells
//   {shape k_heads}              (1,8,12,16)
//   {E}                          a size, by its letter: N L S S′ E H G D Dv
//   {scale}                      what scores are multiplied by: attention.scale or 1/√D, over the temperature
//   {query 8} {key -1}           the word of a position; {key argmax attn_weights[0,0,8,:]} the word at such a place
//   {role 0}                     what a hand-made head was made for: "previous word"
//   {frozen 0}                   1 where the head's weights are held, else 0
//   {spread 4}                   the deviation of the sums of a score's first 4 products, over all pairs of all heads
//   {mask.value}                 a setting of the scenario, by its path
//   {layouts output}             max |Δ| of the output between the three layouts of the input projection
//   {wide output}                max |Δ| of the output with one wide head (core/answers/head_width_comparison.h);
//   {wide scores}                of the heads' scores added up, {wide grad.NAME} of a gradient
//   {parameters}                 how many learnable numbers there are
//   {= √D * scale}               an expression of them (core/answers/live_expression.h)
//
// Claims
//   {if max attn_weights > 0.9: Sharp. | if max attn_weights > 0.5: Less so. | else: Flat.}
//
// The first part whose condition holds is shown. A part is not shown either where the trace lacks a number of it. Without an
// `else`, or where that lacks a number, it may be that no part is shown: then the text is not complete, and the page says
// that it was changed. Parts may stand within parts. A claim is written so that its condition is what makes it true: whoever
// changes the page then sees another part or none, never a false sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/answers/live_value.h"

namespace headwise {

// A part of the text that is shown because its condition holds.
struct LiveClaim {
  std::string condition;  // as it is written; empty: else
  std::string written;    // the part with its braces
  std::string text;       // the part as it is shown
};

struct LiveWords {
  std::string text;
  std::vector<LiveClaim> claims;  // those that are shown, outer ones after what stands in them
  std::vector<std::string> gaps;  // numbers outside of all parts that this trace lacks: "max scores[0,0,99,:]"
  std::vector<std::string> dropped;  // of choices of which no part is shown: their first conditions
  bool complete() const { return gaps.empty() && dropped.empty(); }
};

// The text with its numbers and with those of its parts that hold. What this trace does not have (a tensor that is absent,
// a cell beyond its sizes, an answer that is not possible or would not fit in memory) becomes "–", an answer that is not to
// be computed "…". What check_live_text refuses stays as it is written.
LiveWords live_words(std::string_view text, const LiveSubject& subject, LiveAnswers answers = LiveAnswers::all);
std::string live_text(std::string_view text, const LiveSubject& subject,
                      LiveAnswers answers = LiveAnswers::all);

// Throws Error(usage) for a brace without its partner, for a number that nobody could make (an unknown tensor, letter or
// word, a box that cannot be read) and for a condition that cannot be read.
void check_live_text(std::string_view text);

// Three digits, with a real minus sign: "0.0832", "−12.3", "1.22e−7", "−∞", "NaN".
std::string live_number(double value);

}  // namespace headwise
