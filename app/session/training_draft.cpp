#include "app/session/training_draft.h"

#include <algorithm>
#include <utility>

#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr Index most_heads = 16;

bool same_sizes(const TaskSizes& a, const TaskSizes& b) {
  return a.length == b.length && a.symbols == b.symbols;
}

}  // namespace

TrainingDraft usual_draft(TaskSource source) {
  source.sizes = {};
  source.file_hash = 0;  // of the file as it is now
  TrainingDraft draft{.source = std::move(source), .settings = {}};
  weigh(draft);
  if (!draft.task) return draft;
  draft.settings = usual_settings(*draft.task);
  weigh(draft);
  return draft;
}

TrainingDraft draft_of(const LiveTraining& training) {
  TrainingDraft draft{.source = training.source(), .settings = training.runs().front().settings};
  draft.source.file_hash = 0;
  draft.task = training.shared_task();
  draft.weighed = draft.source.sizes;
  weigh(draft);
  return draft;
}

void weigh(TrainingDraft& draft) {
  draft.error.clear();
  TrainModelConfig& model = draft.settings.model;
  std::erase_if(model.frozen_heads, [&](const FrozenHead& head) {
    return head.layer >= model.layers || head.head >= model.heads;
  });
  try {
    if (!draft.weighed || !same_sizes(*draft.weighed, draft.source.sizes)) {
      draft.weighed.reset();
      draft.source.file_hash = 0;  // nothing has been trained on it yet
      draft.task = std::make_shared<const TrainTask>(task_of(draft.source));
      draft.weighed = draft.source.sizes;
    }
    model.vocabulary = draft.task->vocabulary;
    model.longest_sequence = draft.task->length;
    check_training(*draft.task, draft.settings);
    draft.parameters = train_parameter_count(train_parameters(model));
    draft.most_bytes = LiveTraining::most_bytes(draft.settings);
    require_memory(draft.most_bytes, "the past of the training");
  } catch (const Error& error) {
    draft.error = error.what();
  }
}

void set_heads(TrainModelConfig& model, Index heads) {
  const bool has_all = model.kv_heads == model.heads;
  const Index before = model.kv_heads;
  model.heads = heads;
  model.kv_heads = heads;
  if (has_all) return;
  for (const Index count : kv_head_counts(model))
    if (count <= before) model.kv_heads = count;
}

std::vector<Index> head_counts(const TrainModelConfig& model) {
  std::vector<Index> counts;
  for (Index count = 1; count <= most_heads; ++count)
    if (model.head_width || model.width % count == 0) counts.push_back(count);
  return counts;
}

std::vector<Index> kv_head_counts(const TrainModelConfig& model) {
  std::vector<Index> counts;
  for (Index count = 1; count <= std::min(model.heads, most_heads); ++count)
    if (model.heads % count == 0) counts.push_back(count);
  return counts;
}

}  // namespace headwise
