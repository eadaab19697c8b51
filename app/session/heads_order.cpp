#include "app/session/heads_order.h"

#include <algorithm>
#include <numeric>

namespace headwise {

std::optional<HeadScore> score_of(HeadColumn column) {
  const int score = static_cast<int>(column) - static_cast<int>(HeadColumn::first_score);
  if (score < 0 || score >= static_cast<int>(head_score_count)) return std::nullopt;
  return static_cast<HeadScore>(score);
}

HeadOrder clicked(const HeadOrder& order, HeadColumn column) {
  if (order.column == column) return {column, !order.descending};
  return {column, column != HeadColumn::head};
}

std::optional<double> number_in(const HeadSurvey& survey, const HeadMuting* muting, std::size_t i,
                                HeadColumn column) {
  if (column == HeadColumn::head) return static_cast<double>(i);
  if (const std::optional<HeadScore> score = score_of(column)) return survey.heads[i].scores[*score].value;
  if (!muting || muting->heads[i].positions == 0) return std::nullopt;
  const MutedHead& muted = muting->heads[i];
  if (column == HeadColumn::effect) return muted.bits;
  if (column == HeadColumn::words_changed) return static_cast<double>(muted.words_changed);
  return muted.largest_bits;
}

std::vector<std::size_t> ordered_heads(const HeadSurvey& survey, const HeadMuting* muting,
                                       const HeadOrder& order) {
  std::vector<std::size_t> heads(survey.heads.size());
  std::iota(heads.begin(), heads.end(), std::size_t{0});
  std::ranges::stable_sort(heads, [&](std::size_t a, std::size_t b) {
    const std::optional<double> left = number_in(survey, muting, a, order.column);
    const std::optional<double> right = number_in(survey, muting, b, order.column);
    if (!left || !right) return left.has_value() && !right.has_value();
    return order.descending ? *left > *right : *left < *right;
  });
  return heads;
}

LargestHeads largest_heads(const HeadSurvey& survey, const HeadMuting* muting) {
  LargestHeads largest;
  for (int column = static_cast<int>(HeadColumn::first_score); column < head_column_count; ++column) {
    double most = 0.0;
    for (std::size_t i = 0; i < survey.heads.size(); ++i) {
      const double number = number_in(survey, muting, i, static_cast<HeadColumn>(column)).value_or(0.0);
      if (number > most) {
        most = number;
        largest[static_cast<std::size_t>(column)] = i;
      }
    }
  }
  return largest;
}

}  // namespace headwise
