// The model that the window shows, where it is a step of the training that is watched: its numbers can be explained by that training.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/session/explained_cell.h"
#include "core/scenario/scenario.h"
#include "core/trace/cell_provenance.h"

namespace headwise {

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
