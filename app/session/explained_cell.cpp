#include "app/session/explained_cell.h"

#include <cmath>

#include <fmt/format.h>

#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/train/checkpoint.h"

namespace headwise {
namespace {

std::shared_ptr<Tensor> like_parameter(const TrainParameter& parameter) {
  return std::make_shared<Tensor>(Shape{{"R", parameter.rows()}, {"C", parameter.columns()}}, DType::f64);
}

// Sets `most` to the cell that changes most.
ParameterPictures pictures_of(const StepExplanation<float>& step, const CellQuestion& question,
                              CellPlace& most) {
  const TrainParameter& parameter = step.parameters()[question.parameter];
  const auto value = like_parameter(parameter), gradient = like_parameter(parameter),
             change = like_parameter(parameter);
  const OptimiserKind kind = question.settings.optimiser.kind;
  const auto first = kind != OptimiserKind::sgd ? like_parameter(parameter) : nullptr;
  const bool has_second = kind == OptimiserKind::adam || kind == OptimiserKind::adamw;
  const auto second = has_second ? like_parameter(parameter) : nullptr;
  double largest = -1.0;
  for (Index row = 0; row < parameter.rows(); ++row) {
    check_cancelled();
    for (Index column = 0; column < parameter.columns(); ++column) {
      const CellUpdate update = step.update(question.parameter, row, column);
      const Index cell = row * parameter.columns() + column;
      value->set_flat(cell, update.value);
      gradient->set_flat(cell, update.gradient);
      change->set_flat(cell, update.result - update.value);
      if (first) first->set_flat(cell, second ? update.first_unbiased : update.first);
      if (second) second->set_flat(cell, update.second_unbiased);
      if (std::abs(update.result - update.value) <= largest) continue;
      largest = std::abs(update.result - update.value);
      most = {row, column};
    }
  }
  return {value, gradient, first, second, change};
}

TrainingState<float> state_of(const CellQuestion& question) {
  if (question.state) return *question.state;
  const SavedRun saved = read_saved_run(question.checkpoint);
  if (saved.step != question.step || saved.settings != question.settings)
    throw Error(ExitStatus::input, {question.checkpoint, "this checkpoint is of another training"});
  return read_training_state<float>(question.checkpoint, saved);
}

}  // namespace

ExplainedCell explain_cell(const CellQuestion& question) {
  StepExplanation<float> step(*question.task, question.settings, state_of(question));
  ExplainedCell explained;
  CellPlace most;
  explained.pictures = pictures_of(step, question, most);
  explained.place = question.place.value_or(most);
  explained.update = step.update(question.parameter, explained.place.row, explained.place.column);
  explained.terms = update_terms(explained.update);
  explained.formula = update_formula(explained.update);
  const GradientSources sources = step.sources(question.parameter, explained.place.row, explained.place.column);
  const auto shares =
      std::make_shared<Tensor>(Shape{{"N", sources.sequences}, {"L", sources.length}}, DType::f64);
  for (Index i = 0; i < shares->size(); ++i) {
    const double share = sources.of_tokens[static_cast<std::size_t>(i)];
    shares->set_flat(i, share);
    if (std::abs(share) <= std::abs(explained.share)) continue;
    explained.share = share;
    explained.sequence = i / sources.length;
    explained.position = i % sources.length;
  }
  explained.sources = shares;
  const auto token = static_cast<std::size_t>(explained.sequence * sources.length + explained.position);
  explained.token = question.task->token_texts[static_cast<std::size_t>(step.batch().tokens[token])];
  return explained;
}

std::vector<UpdateLine> update_lines(const ExplainedCell& cell) {
  std::vector<UpdateLine> lines{
      {fmt::format("How step {} changes {}:", cell.update.step + 1, cell.update.name)}};
  if (cell.update.frozen) {
    lines.push_back({"It belongs to a frozen head: nothing changes it.", false, true});
    return lines;
  }
  for (const std::string& term : cell.terms) lines.push_back({term, true});
  lines.push_back({cell.formula, true, true});
  lines.push_back({fmt::format("It changes by {:+.3g}.", cell.update.result - cell.update.value)});
  lines.push_back({fmt::format("Its gradient comes from the {} × {} tokens of this batch.",
                               cell.sources->shape().size(0), cell.sources->shape().size(1))});
  lines.push_back({fmt::format(
      "“{}” at position {} of sequence {} adds most to it, {:+.4g}; all tokens together, {:+.4g}{}.",
      cell.token, cell.position, cell.sequence, cell.share, cell.update.gradient,
      std::abs(cell.share) > std::abs(cell.update.gradient) ? ", since many cancel" : "")});
  return lines;
}

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
