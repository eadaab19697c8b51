// One query's row of a head, computed anew with another vector in the query's place.
#pragma once

#include <span>
#include <vector>

#include "core/attention/trace.h"

namespace headwise {

struct QueryRow {
  std::vector<double> scores;  // S′: q·k, not yet scaled
  // S′: after scale, mask and softmax; of a frozen head those that it is frozen to
  std::vector<double> weights;
};

// q·k, scale, masks and softmax as in the trace (core/attention/scaled_dot_product_attention.h), in f64, with
// q (D numbers) in place of queries_of_scores[n,h,l]. Throws Error(usage) if the trace has no scores, no such
// row, or D is another number.
QueryRow query_row_with(const Trace& trace, Index n, Index h, Index l, std::span<const double> q);

// The vector itself: queries_of_scores[n,h,l], D numbers.
std::vector<double> query_vector(const Trace& trace, Index n, Index h, Index l);

}  // namespace headwise
