#include "core/train/training_outcome.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/attention/relative_bias.h"

namespace headwise {
namespace {

constexpr Index last_losses = 20, map_examples = 4;

// Answers that are always the same, and those that stand at the next position.
void measure_answers(const TrainBatch& batch, TrainingOutcome& outcome) {
  std::map<std::int32_t, Index> counts;
  Index counted = 0, next = 0, most = 0;
  for (std::size_t i = 0; i < batch.targets.size(); ++i) {
    const std::int32_t target = batch.targets[i];
    if (target < 0) continue;
    ++counted;
    most = std::max(most, ++counts[target]);
    const bool ends = (static_cast<Index>(i) + 1) % batch.length == 0;
    next += !ends && batch.tokens[i + 1] == target;
  }
  if (counted == 0) return;
  outcome.guessed = static_cast<double>(most) / static_cast<double>(counted);
  outcome.next_answers = static_cast<double>(next) / static_cast<double>(counted);
}

// Of one layer: (N,L,H·D).
std::vector<HeadGate> gates_of_heads(const Tensor& gates, Index heads) {
  const Index tokens = gates.shape().size(0) * gates.shape().size(1), width = gates.shape().size(2) / heads;
  std::vector<HeadGate> of(static_cast<std::size_t>(heads), HeadGate{.least = 1.0});
  for (Index token = 0; token < tokens; ++token)
    for (Index head = 0; head < heads; ++head) {
      double open = 0.0;
      for (Index c = 0; c < width; ++c)
        open += gates.flat((token * heads + head) * width + c) / static_cast<double>(width);
      HeadGate& own = of[static_cast<std::size_t>(head)];
      own = {own.mean + open / static_cast<double>(tokens), std::min(own.least, open),
             std::max(own.most, open)};
    }
  return of;
}

// Of the table (buckets,H) of a task whose sequences have `length` tokens.
template <class T>
std::vector<HeadBias> biases_of_heads(const TrainModelConfig& model, std::span<const T> table, Index length) {
  std::vector<HeadBias> biases;
  const RelativeBias bias = relative_bias_of(model);
  for (Index head = 0; head < model.heads; ++head) {
    const PositionWindow seen = seen_by_token(model);
    const Index first = -std::min(seen.ahead, length - 1), end = std::min(seen.behind, length - 1) + 1;
    double sum = 0.0, largest = -HUGE_VAL;
    HeadBias of;
    for (Index distance = first; distance < end; ++distance) {
      const auto at = static_cast<std::size_t>(relative_bucket(bias, -distance) * model.heads + head);
      const auto value = static_cast<double>(table[at]);
      sum += value;
      if (value > largest) of.distance = distance;
      largest = std::max(largest, value);
    }
    of.above = largest - sum / static_cast<double>(end - first);
    biases.push_back(of);
  }
  return biases;
}

// The largest number and the largest difference from head 0.
struct Apart {
  double most = 0.0, difference = 0.0;
  void see(double value, double of_first) {
    most = std::max(most, std::abs(value));
    difference = std::max(difference, std::abs(value - of_first));
  }
};

}  // namespace

double maps_apart(const Tensor& map) {
  const Index heads = map.shape().size(1), queries = map.shape().size(2), keys = map.shape().size(3);
  double sum = 0.0;
  for (Index a = 0; a < heads; ++a)
    for (Index b = 0; b < a; ++b)
      for (Index i = 0; i < queries * keys; ++i)
        sum += std::abs(map.flat(a * queries * keys + i) - map.flat(b * queries * keys + i)) / 2.0;
  const Index pairs = heads * (heads - 1) / 2;
  return pairs == 0 ? 0.0 : sum / static_cast<double>(pairs * queries);
}

double known_with_mask(const TrainingOutcome& of) {
  const double known = accuracy_of(of.held_out) - of.guessed;
  if (!of.held_out_causal || known < least_known) return 1.0;
  return (accuracy_of(*of.held_out_causal) - of.guessed) / known;
}

std::optional<Index> learned_step(std::span<const double> losses) {
  if (losses.empty()) return std::nullopt;
  const auto found =
      std::ranges::find_if(losses, [&](double loss) { return loss < learned_share * losses.front(); });
  if (found == losses.end()) return std::nullopt;
  return found - losses.begin();
}

template <class T>
double heads_apart(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters,
                   std::span<const T> array) {
  Apart apart;
  for (const TrainParameter& parameter : parameters) {
    const auto at = [&](Index i) {
      return static_cast<double>(array[static_cast<std::size_t>(parameter.offset + i)]);
    };
    for (Index i = 0; i < parameter.size(); ++i)
      if (const auto owner = owner_of(config, parameter, i)) apart.see(at(i), at(owner->in_first));
  }
  return apart.most == 0.0 ? 0.0 : apart.difference / apart.most;
}

template <class T>
TrainingOutcome training_outcome(TrainingRun<T>& run, std::span<const double> losses,
                                 std::optional<Index> examples_wanted) {
  const Index examples = examples_wanted.value_or(measured_examples(run.task().length));
  TrainingOutcome outcome;
  outcome.settings = run.settings();
  outcome.parameters = train_parameter_count(run.parameters());
  outcome.steps = run.step();
  outcome.length = run.task().length;
  outcome.failure = run.failure();
  outcome.learned_at = learned_step(losses);
  if (!losses.empty()) {
    outcome.first_loss = losses.front();
    outcome.highest_loss = *std::ranges::max_element(losses);
    const auto last = losses.last(std::min(losses.size(), static_cast<std::size_t>(last_losses)));
    outcome.last_loss = std::reduce(last.begin(), last.end()) / static_cast<double>(last.size());
  }
  outcome.held_out = run.held_out(examples);
  TrainBatch batch{.sequences = examples};
  fill_batch(run.task(), TaskSplit::held_out, run.settings().seed, 0, batch);
  measure_answers(batch, outcome);
  if (!run.settings().model.causal) {
    TrainModelConfig causal = run.settings().model;
    causal.causal = true;
    outcome.held_out_causal = TrainPass<T>(causal).evaluate(run.values(), batch);
  }
  const Index habit_examples = std::min(examples, measured_habit_examples(run.task().length));
  outcome.habits = run.habits(habit_examples);
  outcome.habits_before = TrainingRun<T>(run.task(), run.settings()).habits(habit_examples);
  outcome.maps_apart.assign(outcome.habits.size(), 0.0);
  for (Index example = 0; example < std::min(examples, map_examples); ++example) {
    const std::vector<Tensor> maps = run.held_out_maps(example);
    for (std::size_t layer = 0; layer < maps.size(); ++layer)
      outcome.maps_apart[layer] +=
          maps_apart(maps[layer]) / static_cast<double>(std::min(examples, map_examples));
  }
  const TrainModelConfig& model = run.settings().model;
  batch = {.sequences = std::min(examples, measured_habit_examples(run.task().length))};
  fill_batch(run.task(), TaskSplit::held_out, run.settings().seed, 0, batch);
  for (const Tensor& gates : TrainPass<T>(model).output_gates(run.values(), batch))
    outcome.gates.push_back(gates_of_heads(gates, model.heads));
  for (const TrainParameter& parameter : run.parameters())
    if (parameter.role == TrainRole::relative_bias)
      outcome.biases = biases_of_heads(
          model, run.values().subspan(static_cast<std::size_t>(parameter.offset)), run.task().length);
  outcome.heads_apart = heads_apart(run.settings().model, run.parameters(), run.values());
  outcome.head_gradients_apart = heads_apart(run.settings().model, run.parameters(), run.gradient());
  return outcome;
}

template double heads_apart(const TrainModelConfig&, const std::vector<TrainParameter>&,
                            std::span<const float>);
template double heads_apart(const TrainModelConfig&, const std::vector<TrainParameter>&,
                            std::span<const double>);
template TrainingOutcome training_outcome(TrainingRun<float>&, std::span<const double>, std::optional<Index>);
template TrainingOutcome training_outcome(TrainingRun<double>&, std::span<const double>, std::optional<Index>);

}  // namespace headwise
