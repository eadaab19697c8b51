// What is said about one cell: its terms, largest first, with named indices, what it feeds, and what its
// number means in words, as a learner would read it out.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/cell_provenance.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

// Whether the head keeps its weights: its scores do not make them.
bool is_frozen(const Trace& trace, Index head);

struct NamedTerm {
  std::string name;  // the summed indices: "d 1", the token "animal", "n 0, it", "grad.k, column 3"
  std::vector<CellRef> factors;
  std::vector<double> values;  // of the factors, as stored
  double value = 0.0;          // of the term
};

struct CellTerms {
  std::vector<NamedTerm> largest;  // at most as many as requested, by magnitude
  Index more = 0;                  // number of terms not listed
  double more_value = 0.0;         // their sum
  double sum = 0.0;                // of all
};

// The `shown` largest terms; NaN counts as larger than any number.
CellTerms cell_terms(const Trace& trace, const TokenLabels& labels, const CellProvenance& provenance,
                     std::size_t shown);

// "q_heads[0,0,8,:]": a whole axis is a colon, a single index a number, anything between a slice.
std::string box_text(const Trace& trace, const BoxRef& box);

// The tokens along an axis; null where it has none.
const std::vector<std::string>* tokens_of(const TokenLabels& labels, const std::string& axis);

// "animal"; "the₅" where the token occurs at other positions too; "k 5" (with `letter`)
// where there are no tokens.
std::string token_at(const std::vector<std::string>& labels, Index at, std::string_view letter);

// "it → animal" where the cell has a query and a key, "it" where it has one token, else empty.
std::string cell_tokens(const Trace& trace, const TokenLabels& labels, const CellRef& cell);

// Where the columns of the inspector's list of terms lie: name, factors with signs between them, value, bar.
// A function of the text widths, so that nothing touches and it is tested without a window.

// Text widths over all terms, in pixels; `factors`: one per column of factors, from the left.
struct TermWidths {
  int decimals = 3;
  float name = 0.0f, value = 0.0f;
  std::vector<float> factors;
};

struct TermColumns {
  int decimals = 3;                // decimals that numbers are written with
  float name = 0.0f;               // room for the names; longer ones are cut
  std::vector<float> factor_ends;  // right edges of the factors that fit: the last ones, all if possible
  float value_end = 0.0f;
  float bar_begin = 0.0f, bar = 0.0f;  // width 0 where there is no room for bars
  // For the factor in this column of `count`; null if it does not fit.
  const float* end_of(std::size_t factor, std::size_t count) const;
};

// The first of `choices` (most exact first) that fits into `width`; shortening names or dropping the bar is
// tried before fewer decimals. `sign`: room that "×" and "=" take between two numbers, including padding.
TermColumns term_columns(std::span<const TermWidths> choices, float width, float sign, float scale);

// One sentence naming the tokens of the cell's row and column: what a score compares, what a mask blocks, how
// much of its attention one token gives another and the sink takes, whether the indexer chooses a key, what
// a head's output is mixed from, which head wrote a column of concat. Empty where there is nothing to add to
// the formula: parameters, gradients, weights that are not shares (NaN, or a frozen head's).
std::string cell_meaning(const Trace& trace, const TokenLabels& labels, const CellRef& cell);

// How much of a tensor a set of boxes covers, in few enough words to fit a node of the graph.

// "all", "row 8", "head 2 row 8", "rows 0–3", "rows 3, 6", "column 5", "1 cell"; "12 %" where none of these
// fits; empty where the boxes belong to other tensors. `brief`: of combined words only the row.
std::string reach_words(const Trace& trace, const std::vector<BoxRef>& boxes, TensorName tensor,
                        bool brief = false);

// The tensors that the boxes belong to, in the order of computation, gradients last.
std::vector<TensorName> tensors_reached(const std::vector<BoxRef>& boxes);

}  // namespace headwise
