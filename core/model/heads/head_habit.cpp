#include "core/model/heads/head_habit.h"

#include <array>

namespace headwise {
namespace {

constexpr std::array<std::string_view, head_score_count> short_names{
    "previous", "next", "itself", "same", "first", "induction", "marks", "even"};

}  // namespace

std::optional<HeadHabit> head_habit(const HeadScores& scores) {
  const MeasuredScore& entropy = scores[HeadScore::entropy];
  const double least_queries = habit_share_of_queries * static_cast<double>(entropy.queries);
  std::optional<HeadHabit> habit;
  for (std::size_t i = 0; i < head_score_count; ++i) {
    const auto score = static_cast<HeadScore>(i);
    const MeasuredScore& measured = scores[score];
    if (score == HeadScore::entropy || !measured.value || static_cast<double>(measured.queries) < least_queries)
      continue;
    const double above = *measured.value - measured.uniform;
    if (above < habit_above_uniform || (habit && above <= habit->value - habit->uniform)) continue;
    habit = HeadHabit{score, *measured.value, measured.uniform, measured.queries};
  }
  if (!habit && entropy.value && *entropy.value >= even_entropy)
    habit = HeadHabit{HeadScore::entropy, *entropy.value, entropy.uniform, entropy.queries};
  return habit;
}

std::string habit_name(HeadScore score) {
  return std::string(score == HeadScore::entropy ? "even" : head_score_words(score).name);
}

std::string short_habit_name(HeadScore score) {
  return std::string(short_names[static_cast<std::size_t>(score)]);
}

}  // namespace headwise
