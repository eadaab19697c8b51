#include "core/train/cell_update.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/tensor/error.h"

namespace headwise {
namespace {

// Four digits: as many as a formula can show on one line.
std::string number(double x) {
  std::string text = fmt::format("{:.4g}", x);
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

// In a product or behind a sign.
std::string factor(double x) {
  return x < 0.0 ? "(" + number(x) + ")" : number(x);
}

bool has_first(OptimiserKind kind) {
  return kind != OptimiserKind::sgd;
}

bool is_adam_kind(OptimiserKind kind) {
  return kind == OptimiserKind::adam || kind == OptimiserKind::adamw;
}

// The decay that goes through the gradient: that of every optimiser but AdamW.
double decay_in_gradient(const OptimiserConfig& optimiser) {
  return optimiser.kind == OptimiserKind::adamw ? 0.0 : optimiser.weight_decay;
}

}  // namespace

double GradientSources::of_sequence(Index sequence) const {
  const auto first = of_tokens.begin() + sequence * length;
  return std::accumulate(first, first + length, 0.0);
}

template <class T>
StepExplanation<T>::StepExplanation(const TrainTask& task, const TrainingSettings& settings,
                                    TrainingState<T> before)
    : settings_(settings),
      before_(std::move(before)),
      pass_(settings.model),
      gradient_(static_cast<std::size_t>(pass_.size())),
      frozen_(frozen_values(settings.model, pass_.parameters())) {
  Optimiser<T> optimiser(settings_.optimiser, pass_.size());
  optimiser.restore(before_.step, before_.first, before_.second);
  batch_.sequences = settings_.batch;
  fill_batch(task, TaskSplit::training, settings_.seed, before_.step * settings_.batch, batch_);
  pass_.gradient(before_.values, batch_, std::span(gradient_), dropout_seeds_of(settings_, before_.step));
  // The optimiser's own step, on copies, so that clipping is what it was.
  std::vector<T> values = before_.values, clipped = gradient_;
  report_ = optimiser.step(std::span(values), std::span(clipped));
  if (!std::isfinite(report_.gradient_norm))
    throw Error(ExitStatus::usage, {"training", "the gradient of this step is not finite",
                                    fmt::format("step {}", before_.step), "", "go to a step before it"});
}

template <class T>
Index StepExplanation<T>::index_of(std::size_t parameter, Index row, Index column) const {
  const std::vector<TrainParameter>& all = pass_.parameters();
  const bool is_there = parameter < all.size() && row >= 0 && column >= 0 && row < all[parameter].rows() &&
                        column < all[parameter].columns();
  if (!is_there)
    throw Error(ExitStatus::usage,
                {"parameter", "there is no such cell",
                 fmt::format("parameter {}, row {}, column {}", parameter, row, column), "", ""});
  return all[parameter].offset + row * all[parameter].columns() + column;
}

template <class T>
CellUpdate StepExplanation<T>::update(std::size_t parameter, Index row, Index column) const {
  const auto i = static_cast<std::size_t>(index_of(parameter, row, column));
  const TrainParameter& of = pass_.parameters()[parameter];
  const OptimiserConfig& optimiser = settings_.optimiser;
  const UpdateFactors factors = update_factors(optimiser, before_.step);
  const T clipped = gradient_[i] * static_cast<T>(report_.clip_factor);
  OptimisedValue<T> from{.value = before_.values[i]};
  if (has_first(optimiser.kind)) from.first = before_.first[i];
  if (is_adam_kind(optimiser.kind)) from.second = before_.second[i];
  CellUpdate update;
  update.name = of.shape.rank() < 2 ? fmt::format("{}[{}]", of.name, column)
                                    : fmt::format("{}[{}, {}]", of.name, row, column);
  update.step = before_.step;
  update.optimiser = optimiser;
  update.frozen = !frozen_.empty() && frozen_[i];
  const OptimisedValue<T> to = update.frozen ? from : optimised(optimiser, factors, clipped, from);
  update.value = static_cast<double>(from.value);
  update.batch_gradient = static_cast<double>(gradient_[i]);
  update.gradient_norm = report_.gradient_norm;
  update.clip_factor = report_.clip_factor;
  update.gradient = static_cast<double>(clipped);
  update.learning_rate = factors.learning_rate;
  update.first_before = static_cast<double>(from.first);
  update.second_before = static_cast<double>(from.second);
  update.first = static_cast<double>(to.first);
  update.second = static_cast<double>(to.second);
  if (is_adam_kind(optimiser.kind)) {
    update.first_correction = factors.first_correction;
    update.second_correction = factors.second_correction;
    update.first_unbiased = update.first / factors.first_correction;
    update.second_unbiased = update.second / factors.second_correction;
  }
  update.result = static_cast<double>(to.value);
  return update;
}

template <class T>
GradientSources StepExplanation<T>::sources(std::size_t parameter, Index row, Index column) {
  const std::vector<T> shares = pass_.gradient_shares(
      before_.values, batch_, index_of(parameter, row, column), dropout_seeds_of(settings_, before_.step));
  GradientSources sources{batch_.sequences, batch_.length, {}};
  for (const T share : shares) sources.of_tokens.push_back(static_cast<double>(share) * report_.clip_factor);
  return sources;
}

std::string update_formula(const CellUpdate& u) {
  if (u.frozen) return fmt::format("w = {}: it belongs to a frozen head", number(u.value));
  const OptimiserConfig& optimiser = u.optimiser;
  const double decay = decay_in_gradient(optimiser);
  const std::string rate = number(u.learning_rate);
  std::string symbols = "w", numbers = number(u.value);
  if (optimiser.kind == OptimiserKind::adamw && optimiser.weight_decay > 0.0) {
    symbols = "w·(1 − lr·λ)";
    numbers = fmt::format("{}·(1 − {}·{})", factor(u.value), rate, number(optimiser.weight_decay));
  }
  if (optimiser.kind == OptimiserKind::sgd) {
    symbols += " − lr·g";
    numbers += fmt::format(" − {}·{}", rate, factor(u.gradient + decay * u.value));
  } else if (optimiser.kind == OptimiserKind::momentum) {
    symbols += " − lr·m";
    numbers += fmt::format(" − {}·{}", rate, factor(u.first));
  } else {
    symbols += " − lr·m̂/(√v̂ + ε)";
    numbers += fmt::format(" − {}·{}/({} + {})", rate, factor(u.first_unbiased),
                           number(std::sqrt(u.second_unbiased)), number(optimiser.epsilon));
  }
  return fmt::format("{} = {} = {}", symbols, numbers, number(u.result));
}

std::vector<std::string> update_terms(const CellUpdate& u) {
  const OptimiserConfig& optimiser = u.optimiser;
  if (u.frozen) return {};
  std::vector<std::string> lines;
  if (optimiser.clip_norm)
    lines.push_back(fmt::format("clip = min(1, {}/{}) = {}", number(*optimiser.clip_norm),
                                number(u.gradient_norm), number(u.clip_factor)));
  const double decay = decay_in_gradient(optimiser), g = u.gradient + decay * u.value;
  std::string symbols = "∂loss/∂w", numbers = number(u.batch_gradient);
  if (optimiser.clip_norm) {
    symbols = "clip·" + symbols;
    numbers = fmt::format("{}·{}", number(u.clip_factor), factor(u.batch_gradient));
  }
  if (decay > 0.0) {
    symbols += " + λ·w";
    numbers += fmt::format(" + {}·{}", number(decay), factor(u.value));
  }
  const bool computed = optimiser.clip_norm || decay > 0.0;
  lines.push_back(computed ? fmt::format("g = {} = {} = {}", symbols, numbers, number(g))
                           : fmt::format("g = {} = {}", symbols, number(g)));
  if (optimiser.kind == OptimiserKind::momentum)
    lines.push_back(fmt::format("m = μ·m + g = {}·{} + {} = {}", number(optimiser.momentum),
                                factor(u.first_before), factor(g), number(u.first)));
  if (!is_adam_kind(optimiser.kind)) return lines;
  const Index t = u.step + 1;
  lines.push_back(fmt::format("m = β1·m + (1 − β1)·g = {}·{} + {}·{} = {}", number(optimiser.beta1),
                              factor(u.first_before), number(1.0 - optimiser.beta1), factor(g),
                              number(u.first)));
  lines.push_back(fmt::format("v = β2·v + (1 − β2)·g² = {}·{} + {}·{}² = {}", number(optimiser.beta2),
                              number(u.second_before), number(1.0 - optimiser.beta2), factor(g),
                              number(u.second)));
  lines.push_back(fmt::format("m̂ = m/(1 − β1^t) = {}/(1 − {}^{}) = {}", number(u.first),
                              number(optimiser.beta1), t, number(u.first_unbiased)));
  lines.push_back(fmt::format("v̂ = v/(1 − β2^t) = {}/(1 − {}^{}) = {}", number(u.second),
                              number(optimiser.beta2), t, number(u.second_unbiased)));
  return lines;
}

template class StepExplanation<float>;
template class StepExplanation<double>;

namespace {

std::optional<TrainRole> role_of(TensorId tensor) {
  switch (tensor) {
    case TensorId::in_proj_weight:
      return TrainRole::in_weight;
    case TensorId::in_proj_bias:
      return TrainRole::in_bias;
    case TensorId::q_proj_weight:
      return TrainRole::q_weight;
    case TensorId::kv_a_weight:
      return TrainRole::kv_a_weight;
    case TensorId::kv_a_norm_weight:
      return TrainRole::latent_norm;
    case TensorId::kv_b_weight:
      return TrainRole::kv_b_weight;
    case TensorId::relative_bias_weight:
      return TrainRole::relative_bias;
    case TensorId::sinks:
      return TrainRole::sinks;
    case TensorId::output_gate_weight:
      return TrainRole::gate_weight;
    case TensorId::out_proj_weight:
      return TrainRole::out_weight;
    case TensorId::out_proj_bias:
      return TrainRole::out_bias;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<TrainedCell> trained_cell(const TrainModelConfig& config, Index layer, TensorId tensor,
                                        std::span<const Index> index) {
  const std::optional<TrainRole> role = role_of(tensor);
  if (!role) return std::nullopt;
  const std::vector<TrainParameter> parameters = train_parameters(config);
  const Index own_layer = *role == TrainRole::relative_bias && layer < config.layers ? 0 : layer;
  const auto parameter = std::ranges::find_if(
      parameters, [&](const TrainParameter& each) { return each.layer == own_layer && each.role == *role; });
  if (parameter == parameters.end() || std::ssize(index) != parameter->shape.rank()) return std::nullopt;
  const Index row = index.size() < 2 ? 0 : index.front(), column = index.back();
  if (row < 0 || row >= parameter->rows() || column < 0 || column >= parameter->columns())
    return std::nullopt;
  return TrainedCell{static_cast<std::size_t>(parameter - parameters.begin()), row, column};
}

}  // namespace headwise
