// The token that is followed through the steps, the query of the pinned cell: where each picture shows its
// row, and what a step does to it, in a sentence.
#pragma once

#include <optional>
#include <string>

#include "app/content/stage_matrix.h"
#include "app/session/selection.h"
#include "core/attention/trace.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

struct FollowedRow {
  Index batch = 0, token = 0;  // indices on the axes N and L
  friend bool operator==(const FollowedRow&, const FollowedRow&) = default;
};

// None unless a cell is pinned whose tensor has the axis L of queries:
// a key or a column of a weight follows nothing.
std::optional<FollowedRow> followed_row(const Trace& trace, const Selection& selection);

// Where a picture shows that row: a row as drawn, or a column if the picture is transposed.
struct FollowedLine {
  bool column = false;
  Index index = 0;
};

// None where the picture has no axis of queries, shows another sequence, or not this row of it.
std::optional<FollowedLine> followed_line(const StageMatrix& matrix, const FollowedRow& row);

// “it” in quotes, or "query 5" where there are no tokens.
std::string followed_name(const TokenLabels& labels, const FollowedRow& row);

// Of the selection's step and head. Lengths are Euclidean norms. Empty where the trace has nothing for the
// step, as scaled_dot_product_attention has no concat.
std::string followed_sentence(const Trace& trace, const TokenLabels& labels, const Selection& selection,
                              const FollowedRow& row);

}  // namespace headwise
