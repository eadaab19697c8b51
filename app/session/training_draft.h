// A training that is set up and has not begun: its task, its settings, and what they come to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/live_training.h"

namespace headwise {

struct TrainingDraft {
  TaskSource source;
  TrainingSettings settings;
  // Filled in by weigh().
  std::optional<TaskSizes> weighed = {};       // of the task; null: it could not be made
  std::shared_ptr<const TrainTask> task = {};  // of the source's sizes, or of the last ones that it can have
  std::string error = {};                      // why it cannot be trained, a sentence; empty: it can
  Index parameters = 0;                        // if it can
  Index most_bytes = 0;                        // of its past: LiveTraining::most_bytes
};

// The task as it is without sizes of its own, with its usual settings; weighed.
TrainingDraft usual_draft(TaskSource source);
// What is watched, to be changed; weighed.
TrainingDraft draft_of(const LiveTraining& training);

// To be called after each change. Makes the task anew where its sizes have changed; the model's vocabulary
// and longest sequence follow from it. Frozen heads that the model no longer has are left out.
void weigh(TrainingDraft& draft);

// The number of heads; as many key/value heads where there were as many,
// else the most that divide it and are not more than before.
void set_heads(TrainModelConfig& model, Index heads);
// What the number of heads can be, ascending: the divisors of the width, at most 16;
// with a head width of their own 1 … 16.
std::vector<Index> head_counts(const TrainModelConfig& model);
// What the number of key/value heads can be: the divisors of the number of heads, ascending.
std::vector<Index> kv_head_counts(const TrainModelConfig& model);

}  // namespace headwise
