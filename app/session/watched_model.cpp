#include "app/session/watched_model.h"

#include "core/train/cell_update.h"

namespace headwise {

bool is_as_trained(const Scenario& scenario) {
  if (!scenario.origin.layer) return false;
  const Scenario& layer = *scenario.origin.layer;
  return scenario.op == layer.op && scenario.attention == layer.attention && scenario.mask == layer.mask &&
         scenario.edits.empty() && !scenario.head_gain && !scenario.frozen_heads;
}

std::optional<CellQuestion> question_of(const WatchedModel& model, const CellRef& cell) {
  if (cell.tensor.gradient) return std::nullopt;
  const auto trained = trained_cell(model.settings.model, model.layer, cell.tensor.id, cell.index);
  if (!trained) return std::nullopt;
  CellQuestion question;
  question.training = model.training;
  question.run = model.run;
  question.step = model.step;
  question.parameter = trained->parameter;
  question.place = CellPlace{trained->row, trained->column};
  question.checkpoint = model.checkpoint;
  question.task = model.task;
  question.settings = model.settings;
  return question;
}

}  // namespace headwise
