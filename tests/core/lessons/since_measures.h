// What the claims of the lesson on what changed since 2017 measure on a page.
#pragma once

#include <functional>
#include <vector>

#include "tests/core/lessons/page_measures.h"

namespace headwise::lessons_test {

using Row = std::vector<double>;

// Numbers that are not finite claim nothing.
bool same(double a, double b, double share = 1e-3);
bool says_count(See s, Index count);
// A number of an expression: without digits after the point if it is whole.
bool says_result(See s, double number);
// Of two numbers of the trace, which may be nearly equal.
bool says_difference(See s, double a, double b);
Index last_query(See s);
// The row of a query or key, of batch 0; of a tensor without heads if `head` is −1.
Row row_of(See s, const TensorPtr& tensor, Index head, Index at);
double product(const Row& a, const Row& b);
double length(const Row& row);
// The largest difference of rows 0 and 5; NaN if one is missing.
double apart(See s, const TensorPtr& tensor, Index head = -1);
bool no_position_added(See s);

Row frequencies(See s);
// The row, with each pair of columns rotated by its angle at this position.
Row turned(See s, Row row, double position, double factor);
const TensorPtr& before_rotation(See s, const TensorPtr& normed, const TensorPtr& heads);
// Whether q and k are rotated by their positions.
bool rotated(See s);
bool every_pair_rotated(See s);
Row normalised_row(Row row, NormKind kind, double epsilon);

bool causal_and_no_more(See s);
// The weights are those of softmax(q·kᵀ/√D) under a causal mask, with q and k made of the heads' rows.
bool causal_softmax_of(See s, const std::function<Row(Row row, Index position)>& made);
// Whether the last row of q is split into heads, and nothing more.
bool splits(See s);
// The weighted sum, concat and W_O, in the last row; a gate may stand before W_O.
bool joins(See s);
// query · W_gᵀ + b_g, of batch 0.
double gate_number(See s, Index query, Index column);
// Whether each number of concat is multiplied by σ of its gate's.
bool gated(See s);

double sink(See s);  // of head 0
// ln Σ exp of a row of masked scores of head 0.
double log_sum(See s, Index query);
// What the sink of head 0 takes of a row: exp(s) over all that is below the line.
double taken(See s, Index query);
// Whether a row of head 0 is exp of its scores over their sum with exp(s), its output made of values alone.
bool sinks_in(See s, Index query);

}  // namespace headwise::lessons_test
