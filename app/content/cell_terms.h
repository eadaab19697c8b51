// What the inspector says about one cell: its terms, largest first, with named indices, and what it feeds.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/scenario_inputs.h"
#include "core/trace/cell_provenance.h"

namespace headwise {

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

}  // namespace headwise
