// Settings for a run of a few steps, and such runs.
#pragma once

#include "core/train/checkpoint.h"
#include "core/train/training_run.h"

namespace headwise::test {

// Two heads of 8 columns; the task's usual number of layers.
inline TrainingSettings two_head_settings(const TrainTask& task) {
  TrainingSettings settings = usual_settings(task);
  settings.model.width = 16;
  settings.model.heads = settings.model.kv_heads = 2;
  return settings;
}
inline TrainingSettings two_head_settings(const TrainTask& task, Index batch, double dropout) {
  TrainingSettings settings = two_head_settings(task);
  settings.model.dropout = dropout;
  settings.batch = batch;
  return settings;
}

struct SmallRun {
  TaskSource source;
  TrainTask task = task_of(source);
  TrainingRun<float> run;

  SmallRun(const char* name, Index batch, double dropout)
      : source{.name = name}, run(task, two_head_settings(task, batch, dropout)) {}
};

}  // namespace headwise::test
