// Why a change did what it did: sentences for each change, made from the numbers of both runs. Part of core/train/training_answer.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/train/training_changes.h"
#include "core/train/training_outcome.h"

namespace headwise {

struct ComparedRuns {
  const TrainingOutcome& as_it_is;
  const TrainingOutcome& changed;
  std::string with;               // "with one wide head"
  bool learned, changed_learned;  // the task, also on held-out examples
};
std::vector<std::string> change_reasons(TrainingChange change, const ComparedRuns& runs);

// Differences of accuracy below this are not spoken of.
inline constexpr double clearly_better = 0.03;

// "97 %"; one decimal place between 99 and 100, so that a miss shows.
std::string percent(double share);

}  // namespace headwise
