// What the inspector says of one cell: its terms, largest first, with names for their indices, and where it
// leads.
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
  std::vector<NamedTerm> largest;  // at most as many as asked for, by magnitude
  Index more = 0;                  // how many are not among them
  double more_value = 0.0;         // their sum
  double sum = 0.0;                // of all
};

// The `shown` largest terms; NaN counts as larger than any number.
CellTerms cell_terms(const Trace& trace, const TokenLabels& labels, const CellProvenance& provenance,
                     std::size_t shown);

// "q_heads[0,0,8,:]": a whole axis is a colon, a single index a number, anything between a slice.
std::string box_text(const Trace& trace, const BoxRef& box);

// "animal"; "the₅" where the word stands at other places too; "k 5" (after `letter`) where there are no words.
std::string token_at(const std::vector<std::string>& labels, Index at, std::string_view letter);

// "it → animal" where the cell has a query and a key, "it" where it has one token, else empty.
std::string cell_tokens(const Trace& trace, const TokenLabels& labels, const CellRef& cell);

}  // namespace headwise
