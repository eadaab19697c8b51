#include "app/session/trained_habits.h"

#include <fmt/format.h>

#include <array>

namespace headwise {
namespace {

constexpr std::array<std::string_view, habit_count> habit_names{"previous token", "induction", "same token",
                                                                "first token"};
constexpr std::array<std::string_view, habit_count> habit_short_names{"previous", "induction", "same",
                                                                      "first"};

}  // namespace

std::string_view habit_short_name(Habit habit) {
  return habit_short_names[static_cast<std::size_t>(habit)];
}

std::string_view habit_name(Habit habit) {
  return habit_names[static_cast<std::size_t>(habit)];
}

std::optional<double> habit_of(const TrainedHabits& habits, Habit habit) {
  switch (habit) {
    case Habit::previous_token:
      return habits.previous_token;
    case Habit::induction:
      return habits.induction;
    case Habit::same_token:
      return habits.same_token;
    case Habit::first_token:
      return habits.first_token;
  }
  return std::nullopt;
}

bool has_habit(const TrainedHabits& now, const TrainedHabits& at_the_beginning, Habit habit) {
  const double weight = habit_of(now, habit).value_or(0.0);
  return weight >= habit_from && weight >= habit_of(at_the_beginning, habit).value_or(0.0) + habit_grown_by;
}

std::optional<Habit> strongest_habit(const TrainedHabits& now, const TrainedHabits& at_the_beginning) {
  Habit strongest = Habit::previous_token;
  double most = 0.0;
  for (int i = 0; i < habit_count; ++i) {
    const auto habit = static_cast<Habit>(i);
    const double weight = habit_of(now, habit).value_or(0.0);
    if (weight <= most || !has_habit(now, at_the_beginning, habit)) continue;
    most = weight;
    strongest = habit;
  }
  return most > 0.0 ? std::make_optional(strongest) : std::nullopt;
}

std::string trained_head_name(Index layer, Index head) {
  return fmt::format("{}.{}", layer, head);
}

}  // namespace headwise
