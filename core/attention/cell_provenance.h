// Where a number comes from: for any cell of any tensor of a trace, which cells it was computed from and how
// they were combined. Derived from the rule that each tensor declares (rules.h), so that nothing
// is written twice.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/attention/rules.h"

namespace headwise {

struct CellRef {
  TensorName tensor;
  std::vector<Index> index;
  friend bool operator==(const CellRef&, const CellRef&) = default;
};

// Cells [begin, end) of a tensor, one interval per axis.
struct BoxRef {
  TensorName tensor;
  std::vector<Index> begin, end;
  friend bool operator==(const BoxRef&, const BoxRef&) = default;
};

// One addend: the product of its factors. `value` is that product; for rotation it is multiplied by cos θ or
// ∓sin θ, for softmax it is exp(x − max) of that source, for layer_norm_gradient, in cells that the variance
// is computed from, (x − mean)²/E, and for merge_masks what that mask adds (0, −inf or a number). A mask that
// depends only on the position of the cell, such as causal, has no factors and is identified by `label`.
struct Term {
  std::vector<CellRef> factors;
  double value = 0.0;
  std::string label;
};

struct CellProvenance {
  CellRef cell;
  double value = 0.0;  // as stored in the trace
  Combine combine =
      Combine::given;  // of this cell: a row appended by bias_k is a copy although k is a product_sum
  // with this cell's indices: "scores[0,0,8,1] = Σ_d q_heads[0,0,8,d] · k_heads[0,0,1,d]"
  std::string formula;
  std::vector<BoxRef> sources;                             // what it was computed from
  std::vector<Term> terms;                                 // in index order; views sort by size
  std::vector<std::pair<std::string, double>> quantities;  // "scale", "row maximum", "Σ dP·P" …
  std::string note;  // a plain sentence on what is special about this cell; usually empty
};

// Whether every cell of the one is a cell of the other.
bool contains(const BoxRef& outer, const BoxRef& inner);
// A box of the rule's result for each combination of the intervals of its axes; almost always just one.
std::vector<BoxRef> boxes_of(const Rule& rule, const std::vector<std::vector<Interval>>& values);

// A quantity by its name; nullopt if the cell has no such quantity.
std::optional<double> quantity(const CellProvenance& provenance, std::string_view name);

// Throws Error(usage) if the trace has no such tensor, has not kept one of its sources, or the index is out
// of range.
CellProvenance cell_provenance(const Trace& trace, TensorName tensor, const std::vector<Index>& index);
// The same from a rule already available; its result and sources must be in the trace.
CellProvenance provenance_by_rule(const Trace& trace, const Rule& rule, const std::vector<Index>& index);

// Recomputes the number from the provenance alone (its terms, quantities and the trace's source cells),
// in double.
double recompute_from_provenance(const Trace& trace, const CellProvenance& provenance);

// What a cell feeds directly: boxes of the tensors computed from its tensor, with the rules run backwards. A
// cell of a result is in one of the boxes if and only if this cell is in one of its `sources`. If the trace
// has a backward pass, the gradients that read the cell follow the tensors that do: a cell of dropped_weights
// feeds head_output and grad.v_heads. A gradient feeds only gradients.
std::vector<BoxRef> cell_consumers(const Trace& trace, TensorName tensor, const std::vector<Index>& index);
// The same for one rule, which must know the tensor under this name (first_name).
std::vector<BoxRef> cells_made_from(const Rule& rule, TensorName tensor, const std::vector<Index>& index);

// How the sources of a cell are combined into its number, for each Combine.

// Adds to a provenance that already has its terms the constants its cell also depends on and the totals of
// its row: "scale", "row maximum", "Σ dP·P". Terms that contribute something other than the product of their
// factors get that value and a label (Term).
void add_quantities(const Trace& trace, CellProvenance& provenance);

// "scores[0,0,8,1] = Σ_d q_heads[0,0,8,d] · k_heads[0,0,1,d]". `provenance` is complete except for its
// formula and note.
std::string cell_formula(const Trace& trace, const Rule& rule, const CellProvenance& provenance);

// A number for a formula: six digits, "−0.25", "−∞", "NaN".
std::string number_text(double value);

}  // namespace headwise
