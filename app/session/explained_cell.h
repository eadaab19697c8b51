// One number of a model in training, explained: what the next step makes of it and from which tokens its
// gradient comes, with pictures of the whole parameter.
// Computed in the background from the state where the training stands.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/async_query.h"
#include "app/session/live_training.h"
#include "core/attention/cell_provenance.h"
#include "core/scenario/scenario.h"
#include "core/train/cell_update.h"

namespace headwise {

struct CellPlace {
  Index row = 0, column = 0;
  friend bool operator==(const CellPlace&, const CellPlace&) = default;
};

struct CellQuestion {
  int training = 0;  // LiveTraining::number()
  std::size_t run = 0;
  Index step = 0;
  std::size_t parameter = 0;       // of train_parameters()
  std::optional<CellPlace> place;  // null: the number that changes most
  // What it is computed from; given by the fields above.
  std::shared_ptr<const TrainingState<float>> state;  // null: that of the checkpoint
  std::shared_ptr<const TrainTask> task;
  TrainingSettings settings;
  std::string checkpoint = {};  // the folder that the state is read from where it is not given

  friend bool operator==(const CellQuestion& a, const CellQuestion& b) {
    return a.training == b.training && a.run == b.run && a.step == b.step && a.parameter == b.parameter &&
           a.place == b.place;
  }
};

// Of the parameter's shape; a vector is one row.
struct ParameterPictures {
  TensorPtr value, gradient, first, second,
      change;  // w, g as it is applied, m̂, v̂, and w after the step − w; m̂ and v̂ may be null
};

struct ExplainedCell {
  CellPlace place;
  CellUpdate update;
  std::vector<std::string> terms;  // g, m, v, m̂ and v̂
  std::string formula;
  ParameterPictures pictures;
  TensorPtr sources;                 // (sequences,length): what each token of the batch adds to the gradient
  Index sequence = 0, position = 0;  // of the token that adds most, in size
  double share = 0.0;                // what it adds
  std::string token;                 // its text
};

// Throws Error(usage) where the gradient is not finite, Error(input) for a checkpoint that cannot be read or
// is of another training, Error(cancelled).
ExplainedCell explain_cell(const CellQuestion& question);

// The explanation in words: which step, the terms and the formula, and where the gradient comes from.
struct UpdateLine {
  std::string text;
  bool computed = false;  // a term or the formula, and not a sentence
  bool result = false;    // the formula, or the sentence that stands for it
};
std::vector<UpdateLine> update_lines(const ExplainedCell& cell);

using ExplainedCells = AsyncQuery<CellQuestion, ExplainedCell>;

// The model that the window shows, where it is a step of the training that is watched: its numbers can be
// explained by that training.

struct WatchedModel {
  int training = 0;  // LiveTraining::number()
  std::size_t run = 0;
  Index step = 0, layer = 0;
  std::shared_ptr<const TrainTask> task;
  TrainingSettings settings;
  std::string checkpoint;           // the folder that the model was opened from
  bool edited = false;              // it computes something else than the training's model
  ExplainedCells* cells = nullptr;  // what computes the explanations
};

// Whether the scenario computes its model's layer as it was trained. Its text may be any.
bool is_as_trained(const Scenario& scenario);

// What is to be explained of a cell of the trace; nullopt for one that the training does not change.
std::optional<CellQuestion> question_of(const WatchedModel& model, const CellRef& cell);

}  // namespace headwise
