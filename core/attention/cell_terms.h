// How a cell follows from its terms, for the ways of combining that are files of their own
// (core/attention/cell_combination.cpp): the numbers that stand beside the terms, and the cell once more.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/attention/cell_provenance.h"

namespace headwise {

// The product of the factors' numbers, as stored in the trace.
double product_of_factors(const Trace& trace, const Term& term);
std::vector<double> products_of(const Trace& trace, std::span<const Term> terms);
// In a row: the index of the term whose source is at the cell's own position.
std::size_t own_term(const CellProvenance& provenance);

// Norms: the row's mean and deviation.
void add_norm(const Trace& trace, CellProvenance& provenance, bool backwards);
double recompute_norm(const Trace& trace, const CellProvenance& provenance);
double recompute_norm_gradient(const Trace& trace, const CellProvenance& provenance);
double recompute_norm_weight_gradient(const Trace& trace, const CellProvenance& provenance);

// Rotation by position: the position and the angles.
void add_rotation(const Trace& trace, CellProvenance& provenance);
double recompute_rotation(const Trace& trace, const CellProvenance& provenance);

// The indexer's queries, keys and scores; nothing of angles in a column that is not rotated.
void add_indexer_query(const Trace& trace, CellProvenance& provenance);
void add_indexer_key(const Trace& trace, CellProvenance& provenance);
double recompute_indexer_query(const Trace& trace, const CellProvenance& provenance);
double recompute_indexer_key(const Trace& trace, const CellProvenance& provenance);
// The terms of one head of the indexer are adjacent: q·k·w of each column. Where their sum is below 0, ReLU
// makes it 0; `values` get it then, too, unless it is null.
double recompute_indexer_score(const Trace& trace, const CellProvenance& provenance, std::vector<Term>* values);

}  // namespace headwise
