// Why a change did what it did: sentences for each change, made from the numbers of both runs.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/train/training_outcome.h"

namespace headwise {

struct ComparedRuns {
  const TrainingOutcome& as_it_is;
  const TrainingOutcome& changed;
  std::string with;               // "with one wide head"
  bool learned, changed_learned;  // the task, also on held-out examples
};

using Sentences = std::vector<std::string>;

// In the order in which they are said.
Sentences reasons_of(TrainingChange change, const ComparedRuns& runs);

// What the sentences share.
namespace reasons {

// Differences of accuracy below this are not spoken of.
inline constexpr double clearly_better = 0.03;

// Maps that differ by less are nearly the same.
inline constexpr double nearly_same = 0.15;

struct HabitWords {
  std::optional<double> TrainedHabits::*value;
  const char* looks;  // "head 0.3 looks …"
};

inline constexpr std::array habit_words{
    HabitWords{&TrainedHabits::previous_token, "at the token before"},
    HabitWords{&TrainedHabits::induction, "at what came after the same token before"},
    HabitWords{&TrainedHabits::same_token, "at the same token before"},
    HabitWords{&TrainedHabits::next_token, "at the next token"}};

struct StrongestHead {
  std::size_t layer = 0, head = 0;
  double value = 0.0;
  std::string name() const { return fmt::format("{}.{}", layer, head); }
};

// "97 %"; one decimal place between 99 and 100, so that a miss shows.
std::string percent(double share);
// The head that gives most of its weight there.
StrongestHead strongest(const TrainingOutcome& of, const HabitWords& habit);
// Whether a head has the habit, by the rule by which the window labels its map.
bool has_habit(const TrainingOutcome& of, const HabitWords& habit, std::size_t layer, std::size_t head);
// Of the heads that have it, the one with most of it; none: a value of 0.
StrongestHead strongest_with(const TrainingOutcome& of, const HabitWords& habit);
// "With one wide head,"
std::string changed_name(const ComparedRuns& runs);
// What the heads look at, in both runs.
void add_habits(const ComparedRuns& runs, Sentences& sentences);
std::string parameters_of(const ComparedRuns& runs);
// How far apart two heads' maps are, in each layer.
std::string layers_apart(const TrainingOutcome& of);
// On held-out examples.
bool changed_is_worse(const ComparedRuns& runs);

// Of the changes that are made to heads.
Sentences wide_head(const ComparedRuns& runs);
Sentences fewer_heads(const ComparedRuns& runs);
Sentences frozen(const ComparedRuns& runs);
Sentences equal(const ComparedRuns& runs);
Sentences fewer_keys(const ComparedRuns& runs);
Sentences latent_keys(const ComparedRuns& runs);

}  // namespace reasons
}  // namespace headwise
