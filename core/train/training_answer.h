// What a change did to a training, in plain words that follow from the numbers of the two runs.
#pragma once

#include <string>
#include <vector>

#include "core/train/training_changes.h"
#include "core/train/training_outcome.h"

namespace headwise {

struct ChangeAnswer {
  std::string verdict;  // one sentence: which of the two learned the task, when and how well
  // sentences: what the heads do in both, and what of the change explains it
  std::vector<std::string> reasons;
};

// `as_it_is` and `changed` are outcomes of two runs of a task whose settings differ by the change. What is
// said is computed from them: of one seed, as the two runs are. Percentages are of held-out examples; head
// 1.2 is head 2 of layer 1.
ChangeAnswer change_answer(TrainingChange change, const TrainingOutcome& as_it_is,
                           const TrainingOutcome& changed);

// The verdict and the reasons as lines of text.
std::string text_of_answer(const ChangeAnswer& answer);

}  // namespace headwise
