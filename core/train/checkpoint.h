// A run in files: FOLDER/checkpoint-STEP, each a model by itself and all that the run needs to go on.
//
//   model.safetensors      the parameters, under their names
//   config.json            the model's settings, "model_type" headwise
//   optimizer.safetensors  first.NAME and second.NAME, where the optimiser has them
//   tokenizer.json         the texts of the task's tokens;
//                          not there if two of them would be written alike
//   training.json          the step, the task, the optimiser, the batch, the seed, the type of numbers, the
//                          plan, and for those who open the model "held_out_loss" and "held_out_accuracy" on
//                          the first held-out examples (at most 128, or 4,096 tokens), "what", the task's
//                          sentence, and "example", the text of the first of them
//
// A checkpoint is there whole or not at all: it is written under another name, which is changed at the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/files/file_paths.h"
#include "core/tensor/tensor.h"
#include "core/train/training_run.h"

namespace headwise {

// What a task is made of: a name with sizes, or a file.
struct TaskSource {
  std::string name;  // of task_entries(); "file": of a file
  TaskSizes sizes = {};
  // Its path: a task of json_task if it ends in .json, else a text. `file_hash` is that of its content when
  // the run began; 0: not known yet.
  std::string file = {};
  std::uint64_t file_hash = 0;
};
// Fills file_hash in if it is 0. Throws Error(usage) as named_task does, Error(input) for a file that cannot
// be read or learned, or that has changed since its hash was taken: the run would not be the same.
TrainTask task_of(TaskSource& source);

inline constexpr Index least_kept_checkpoints = 3;

// How far a training goes, and which of its checkpoints are kept: nothing that its numbers depend on.
struct TrainingPlan {
  Index steps = 500;  // altogether
  Index every = 50;   // steps between checkpoints
  Index keep = 32;    // the most checkpoints
};

struct SavedRun {
  Index step = 0;
  TaskSource task;
  TrainingSettings settings;
  DType dtype = DType::f32;          // f32 or f64
  std::optional<TrainingPlan> plan;  // none: it was watched in the window, or is of an earlier version
};

// The files of a checkpoint at the step where the run stands.
template <class T>
std::vector<NamedContent> checkpoint_files(const TaskSource& task, TrainingRun<T>& run,
                                           const std::optional<TrainingPlan>& plan = {});

// Writes FOLDER/checkpoint-STEP; the folder is created if it is not there. Throws Error(output); then nothing
// is left behind. Whoever writes several holds the folder (training_folder.h), and writes what belongs to the
// checkpoint and lies outside it before: the checkpoint's rename is what makes a training go on from there.
template <class T>
void write_checkpoint(const std::string& folder, const TaskSource& task, TrainingRun<T>& run,
                      const std::optional<TrainingPlan>& plan = {});

// The steps of the checkpoints in a folder, ascending; empty if there are none.
// core/model/files/model_files.h has their paths.
std::vector<Index> checkpoint_steps(const std::string& folder);
std::string checkpoint_path(const std::string& folder, Index step);

// Throw Error(input) for a checkpoint that is damaged: incomplete, or not fitting together. It names the file
// and says from which checkpoint the training goes on without this one.
SavedRun read_saved_run(const std::string& checkpoint);
template <class T>
TrainingState<T> read_training_state(const std::string& checkpoint, const SavedRun& run);

}  // namespace headwise
