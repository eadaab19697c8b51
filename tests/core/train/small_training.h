// Settings for a run of a few steps.
#pragma once

#include "core/train/training_run.h"

namespace headwise::test {

// Two heads of 8 columns; the task's usual number of layers.
inline TrainingSettings two_head_settings(const TrainTask& task, Index batch, double dropout) {
  TrainingSettings settings = usual_settings(task);
  settings.model.width = 16;
  settings.model.heads = settings.model.kv_heads = 2;
  settings.model.dropout = dropout;
  settings.batch = batch;
  return settings;
}

}  // namespace headwise::test
