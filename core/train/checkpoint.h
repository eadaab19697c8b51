// A run in files: FOLDER/checkpoint-STEP, each a model by itself and all that the run needs to go on.
//
//   model.safetensors      the parameters, under their names
//   config.json            the model's settings, "model_type" headwise
//   optimizer.safetensors  first.NAME and second.NAME, where the optimiser has them
//   training.json          the step, the task, the optimiser, the batch, the seed and the type of numbers
//
// A checkpoint is there whole or not at all: it is written under another name, which is changed at the end.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/train/training_run.h"

namespace headwise {

// What a task is made of: a name with sizes, or a text file.
struct TaskSource {
  std::string name;  // of task_entries(); "text": of a file
  TaskSizes sizes = {};
  std::string text_file = {};  // its path
};
// Throws Error(usage) as named_task does, Error(input) for a text that cannot be read or learned.
TrainTask task_of(const TaskSource& source);

struct SavedRun {
  Index step = 0;
  TaskSource task;
  TrainingSettings settings;
  DType dtype = DType::f32;  // f32 or f64
};

// Writes FOLDER/checkpoint-STEP; the folder is created if it is not there. Throws Error(output); then nothing is left behind.
template <class T>
void write_checkpoint(const std::string& folder, const TaskSource& task, const TrainingRun<T>& run);

// The steps of the checkpoints in a folder, ascending; empty if there are none.
std::vector<Index> checkpoint_steps(const std::string& folder);
std::string checkpoint_path(const std::string& folder, Index step);

// Throw Error(input), naming the file, for a checkpoint that is incomplete or does not fit together.
SavedRun read_saved_run(const std::string& checkpoint);
template <class T>
TrainingState<T> read_training_state(const std::string& checkpoint, const SavedRun& run);

}  // namespace headwise
