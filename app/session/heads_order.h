// The heads of a model ordered by a column of their table.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/model/heads/head_survey.h"

namespace headwise {

// The scores come in the order of HeadScore.
enum class HeadColumn : int {
  head,  // layer.head
  first_score,
  effect = first_score + static_cast<int>(head_score_count),
  words_changed,
  largest_change,
};
inline constexpr int head_column_count = static_cast<int>(HeadColumn::largest_change) + 1;

constexpr HeadColumn column_of(HeadScore score) {
  return static_cast<HeadColumn>(static_cast<int>(HeadColumn::first_score) + static_cast<int>(score));
}
// None if the column is not a score.
std::optional<HeadScore> score_of(HeadColumn column);

struct HeadOrder {
  HeadColumn column = HeadColumn::head;
  bool descending = false;
  friend bool operator==(const HeadOrder&, const HeadOrder&) = default;
};
// After a click on a column header: largest first, but layer.head ascending from 0.0;
// a second click reverses the order.
HeadOrder clicked(const HeadOrder& order, HeadColumn column);

// The number in a column for head number `i`; none: unknown, or the score has no meaning in this text.
// `muting` may be null.
std::optional<double> number_in(const HeadSurvey& survey, const HeadMuting* muting, std::size_t i,
                                HeadColumn column);

// Head numbers. Ties keep the order of layer.head; heads without a value come last in either direction.
std::vector<std::size_t> ordered_heads(const HeadSurvey& survey, const HeadMuting* muting,
                                       const HeadOrder& order);

// The head with the largest number in each column, the first in a tie; none: no value is known, or all are 0.
using LargestHeads = std::array<std::optional<std::size_t>, head_column_count>;  // by HeadColumn
LargestHeads largest_heads(const HeadSurvey& survey, const HeadMuting* muting);

}  // namespace headwise
