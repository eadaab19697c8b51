// What the inspector says about one cell: its terms, largest first, with named indices, and what it feeds.
#pragma once

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

// "animal"; "the₅" where the token occurs at other positions too; "k 5" (with `letter`) where there are no tokens.
std::string token_at(const std::vector<std::string>& labels, Index at, std::string_view letter);

// "it → animal" where the cell has a query and a key, "it" where it has one token, else empty.
std::string cell_tokens(const Trace& trace, const TokenLabels& labels, const CellRef& cell);

}  // namespace headwise
