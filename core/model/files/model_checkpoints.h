// Checkpoints of a training in a folder, checkpoint-STEP, as `headwise train` and the Trainer of Hugging
// Face's transformers write them: each is a model by itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

struct ModelCheckpoint {
  Index step = 0;
  std::string path;  // FOLDER/checkpoint-STEP
  friend bool operator==(const ModelCheckpoint&, const ModelCheckpoint&) = default;
};

// The folders named checkpoint-STEP in `folder` that hold a model's arrays, by step;
// empty if there are none, or it cannot be read.
std::vector<ModelCheckpoint> model_checkpoints(const std::string& folder);

// All checkpoints of the training that the model at `path` is a checkpoint of, itself among them, by step.
// `path` is the folder checkpoint-STEP or a file in it; empty if it is neither.
std::vector<ModelCheckpoint> sibling_checkpoints(const std::string& path);

// The newest checkpoint in a folder that is no model itself; `path` for anything else.
std::string newest_checkpoint_or(const std::string& path);

// What a model was trained to do, from the training.json that `headwise train` writes beside its models.
// Empty if there is none.
struct TrainedTask {
  std::string what;                          // one sentence: what is asked, and what attention must find
  std::string example;                       // a text of the task that the model was not trained on
  std::optional<Index> step = std::nullopt;  // after which the model was written
  std::optional<double> held_out_loss =
                            std::nullopt,  // cross-entropy in nats, on examples that it was not trained on
      held_out_accuracy = std::nullopt;    // 0 … 1
};
TrainedTask trained_task(const std::string& folder);

}  // namespace headwise
