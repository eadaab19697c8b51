#include "core/train/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/model/heads/head_scores.h"
#include "core/tensor/error.h"
#include "core/tensor/random.h"
#include "core/train/train_model.h"

namespace headwise {
namespace {

constexpr Index measured_tokens = 4096, most_measured_examples = 128, most_habit_examples = 16;

constexpr Index most_sequences = 4096;

// The parameter with the longest gradient, or the first with one that is not finite, from the last parameter
// to the first: the way back reaches that one first.
template <class T>
const TrainParameter& failing_parameter(const std::vector<TrainParameter>& parameters,
                                        std::span<const T> gradient) {
  const TrainParameter* longest = &parameters.back();
  double most = -1.0;
  std::vector<double> squares;
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) {
    const double norm = norm_of(gradient.subspan(static_cast<std::size_t>(parameter->offset),
                                                 static_cast<std::size_t>(parameter->size())),
                                squares);
    if (!std::isfinite(norm)) return *parameter;
    if (norm > most) {
      most = norm;
      longest = &*parameter;
    }
  }
  return *longest;
}

}  // namespace

Index measured_examples(Index length) {
  return std::clamp(measured_tokens / length, Index{1}, most_measured_examples);
}

Index measured_habit_examples(Index length) {
  return std::clamp(measured_tokens / length / 4, Index{1}, most_habit_examples);
}

TrainingSettings usual_settings(const TrainTask& task) {
  TrainingSettings settings;
  settings.model.vocabulary = task.vocabulary;
  settings.model.longest_sequence = task.length;
  settings.model.layers = task.layers;
  settings.optimiser.learning_rate = 3e-3;
  settings.optimiser.weight_decay = 0.01;
  settings.optimiser.clip_norm = 1.0;
  settings.optimiser.warm_up_steps = 20;
  return settings;
}

void check_training(const TrainTask& task, const TrainingSettings& settings) {
  const auto refuse = [&](const char* setting, const char* what, Index got, const std::string& expected) {
    throw Error(ExitStatus::usage, {setting, what, fmt::format("{}", got), expected, ""});
  };
  if (settings.batch < 1 || settings.batch > most_sequences)
    refuse("batch", "the value is out of range", settings.batch, fmt::format("1 to {}", most_sequences));
  if (settings.model.vocabulary < task.vocabulary)
    refuse("vocabulary", "the model knows fewer tokens than the task has", settings.model.vocabulary,
           fmt::format("{} or more", task.vocabulary));
  if (settings.model.longest_sequence < task.length)
    refuse("longest_sequence", "the task's sequences are too long for the model",
           settings.model.longest_sequence, fmt::format("{} or more", task.length));
  check_train_model(settings.model);
  check_optimiser(settings.optimiser);
}

namespace {

const TrainingSettings& checked_training(const TrainTask& task, const TrainingSettings& settings) {
  check_training(task, settings);
  return settings;
}

}  // namespace

std::vector<std::uint64_t> dropout_seeds_of(const TrainingSettings& settings, Index step) {
  const CounterRandom random(settings.seed, "dropout of steps");
  std::vector<std::uint64_t> seeds;
  if (settings.model.dropout > 0.0)
    for (Index layer = 0; layer < settings.model.layers; ++layer)
      seeds.push_back(random.bits(static_cast<std::uint64_t>(4 * step + layer)));
  return seeds;
}

template <class T>
TrainingRun<T>::TrainingRun(TrainTask task, const TrainingSettings& settings)
    : task_(std::move(task)),
      settings_(checked_training(task_, settings)),
      pass_(settings_.model),
      optimiser_(settings_.optimiser, pass_.size(), frozen_values(settings_.model, pass_.parameters())),
      values_(static_cast<std::size_t>(pass_.size())),
      gradient_(values_.size()) {
  initialise_parameters(settings_.model, pass_.parameters(), settings_.seed, std::span(values_));
  batch_.sequences = settings_.batch;
}

template <class T>
std::optional<TrainingStep> TrainingRun<T>::take_step() {
  if (failure_) throw Error(ExitStatus::usage, {.where = "training", .what = failure_->what});
  TrainingStep taken{step(), {}, {}};
  fill_batch(task_, TaskSplit::training, settings_.seed, taken.step * settings_.batch, batch_);
  taken.batch = pass_.gradient(values_, batch_, std::span(gradient_), dropout_seeds_of(settings_, taken.step));
  std::vector<double> squares;
  const bool fails = !std::isfinite(taken.batch.loss) || taken.batch.loss > exploded_loss ||
                     !std::isfinite(norm_of(std::span<const T>(gradient_), squares));
  if (fails) {
    failure_ = failure_of(taken.batch);
    return std::nullopt;
  }
  taken.update = optimiser_.step(std::span(values_), std::span(gradient_));
  return taken;
}

template <class T>
TrainingFailure TrainingRun<T>::failure_of(const BatchResult& result) {
  const std::string begin = fmt::format("step {}: ", step()),
                    remedy = settings_.optimiser.clip_norm
                                 ? "; choose a smaller learning rate"
                                 : "; choose a smaller learning rate, or clip the gradient";
  const std::string tensor = pass_.first_not_finite(values_, batch_);
  if (!tensor.empty())
    return {step(), tensor, begin + tensor + " is the first tensor that is not finite" + remedy};
  const std::string& name = failing_parameter(pass_.parameters(), std::span<const T>(gradient_)).name;
  if (std::isfinite(result.loss) && result.loss <= exploded_loss)
    return {step(), name, begin + "the gradient of " + name + " is not finite" + remedy};
  return {step(), name,
          fmt::format("{}the loss has exploded ({:.3g}); the longest gradient is that of {}{}", begin,
                      result.loss, name, remedy)};
}

template <class T>
BatchResult TrainingRun<T>::held_out(std::optional<Index> examples) {
  held_out_batch_.sequences = examples.value_or(measured_examples(task_.length));
  fill_batch(task_, TaskSplit::held_out, settings_.seed, 0, held_out_batch_);
  return pass_.evaluate(values_, held_out_batch_);
}

template <class T>
std::vector<Tensor> TrainingRun<T>::held_out_maps(Index example) {
  held_out_batch_.sequences = 1;
  fill_batch(task_, TaskSplit::held_out, settings_.seed, example, held_out_batch_);
  return pass_.attention_weights(values_, held_out_batch_);
}

template <class T>
std::vector<std::vector<TrainedHabits>> TrainingRun<T>::habits(std::optional<Index> examples) {
  const Index measured = examples.value_or(measured_habit_examples(task_.length));
  // An example at a time: the maps of many long ones would take gigabytes.
  const auto layers = static_cast<std::size_t>(settings_.model.layers),
             heads = static_cast<std::size_t>(settings_.model.heads);
  std::vector<std::vector<double>> kept(layers, std::vector<double>(heads));  // on keys, of a query
  std::vector<std::vector<std::vector<HeadScores>>> scores(layers, std::vector<std::vector<HeadScores>>(heads));
  for (Index example = 0; example < measured; ++example) {
    const std::vector<Tensor> maps = held_out_maps(example);
    std::vector<ScoredToken> text(held_out_batch_.tokens.size());
    for (std::size_t i = 0; i < text.size(); ++i) text[i].id = held_out_batch_.tokens[i];
    for (std::size_t layer = 0; layer < layers; ++layer)
      for (std::size_t head = 0; head < heads; ++head) {
        scores[layer][head].push_back(head_scores(
            maps[layer], 0, static_cast<Index>(head), text,
            {.is_causal = settings_.model.causal, .sliding_window = settings_.model.sliding_window}));
        const Index cells = std::ssize(text) * std::ssize(text);
        for (Index cell = 0; cell < cells; ++cell)
          kept[layer][head] += maps[layer].flat(static_cast<Index>(head) * cells + cell) /
                               static_cast<double>(measured * std::ssize(text));
      }
  }
  // The mean of the examples' scores, each weighted by its queries.
  const auto mean_of = [](const std::vector<HeadScores>& of_examples, HeadScore score) -> std::optional<double> {
    double sum = 0.0;
    Index queries = 0;
    for (const HeadScores& of : of_examples) {
      if (!of[score].value) continue;
      sum += *of[score].value * static_cast<double>(of[score].queries);
      queries += of[score].queries;
    }
    if (queries == 0) return std::nullopt;
    return sum / static_cast<double>(queries);
  };
  std::vector<std::vector<TrainedHabits>> habits(layers);
  for (std::size_t layer = 0; layer < layers; ++layer)
    for (std::size_t head = 0; head < heads; ++head) {
      const std::vector<HeadScores>& of = scores[layer][head];
      habits[layer].push_back({mean_of(of, HeadScore::previous_token), mean_of(of, HeadScore::induction),
                               mean_of(of, HeadScore::same_word), mean_of(of, HeadScore::first_token),
                               mean_of(of, HeadScore::next_token)});
      if (settings_.model.sink) habits[layer].back().sink = 1.0 - kept[layer][head];
    }
  return habits;
}

template <class T>
TrainingState<T> TrainingRun<T>::state() const {
  return {step(),
          values_,
          {optimiser_.first().begin(), optimiser_.first().end()},
          {optimiser_.second().begin(), optimiser_.second().end()}};
}

template <class T>
void TrainingRun<T>::restore(const TrainingState<T>& state) {
  if (state.values.size() != values_.size())
    throw Error(ExitStatus::usage,
                {"training", "the checkpoint has another number of parameters",
                 fmt::format("{}", state.values.size()), fmt::format("{}", values_.size()), ""});
  optimiser_.restore(state.step, state.first, state.second);
  values_ = state.values;
  failure_.reset();
}

template class TrainingRun<float>;
template class TrainingRun<double>;

}  // namespace headwise
