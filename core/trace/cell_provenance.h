// Where a number came from: for any cell of any tensor of a trace, which cells it was made from and how they were combined.
// Derived from the rule that each tensor declares (core/trace/rules.h), never written a second time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/trace/trace.h"

namespace headwise {

enum class Combine {
  given,         // an input or a parameter
  copy,          // one source cell as it is (split, repeat, append)
  product_sum,   // Σ of products, each of one or more factors (projections, scores, head_output, concat with its gain)
  scale,         // a source cell times a constant, temperature and softcap included
  merge_masks,   // the masks' contributions added (or filled)
  add_mask,      // scaled score + mask_bias
  softmax,       // exp(x − max) / Σ exp
  dropout,       // the source times 0 or 1/(1−p)
  mean,          // mean over an axis
  layer_norm,
};

struct CellRef {
  TensorName tensor;
  std::vector<Index> index;
  friend bool operator==(const CellRef&, const CellRef&) = default;
};

// Cells [begin, end) of a tensor, one interval an axis.
struct BoxRef {
  TensorName tensor;
  std::vector<Index> begin, end;
  friend bool operator==(const BoxRef&, const BoxRef&) = default;
};

// One addend: the product of its factors; `value` is that product (for softmax: exp(x − max) of that source).
struct Term {
  std::vector<CellRef> factors;
  double value = 0.0;
};

struct CellProvenance {
  CellRef cell;
  double value = 0.0;           // as stored in the trace
  Combine combine = Combine::given;
  std::string formula;          // with this cell's indices: "scores[0,0,8,1] = Σ_d q_heads[0,0,8,d] · k_heads[0,0,1,d]"
  std::vector<BoxRef> sources;  // what it was made from
  std::vector<Term> terms;      // in index order; views sort by size
  std::vector<std::pair<std::string, double>> quantities;  // "scale", "row maximum", "Σ exp", "1/(1−p)" …
};

CellProvenance cell_provenance(const Trace& trace, TensorName tensor, const std::vector<Index>& index);

// The number again, from the provenance alone (its terms, quantities and the trace's source cells), in double.
double recompute_from_provenance(const Trace& trace, const CellProvenance& provenance);

// What a cell feeds directly: boxes of the tensors that are made from its tensor.
std::vector<BoxRef> cell_consumers(const Trace& trace, TensorName tensor, const std::vector<Index>& index);

}  // namespace headwise
