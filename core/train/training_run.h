// A model, its task and its optimiser, step by step. A run that is resumed from a checkpoint is the same, bit
// for bit, as one that never stopped: batches,
// dropout and the beginning are functions of the seed and the step.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/train/train_optimiser.h"
#include "core/train/train_task.h"

namespace headwise {

struct TrainingSettings {
  TrainModelConfig model;  // its vocabulary and longest sequence are at least the task's
  OptimiserConfig optimiser;
  Index batch = 64;  // sequences per step, 1 … 4,096
  std::uint64_t seed = 1;

  friend bool operator==(const TrainingSettings&, const TrainingSettings&) = default;
};

// Settings that a task is usually learned with.
TrainingSettings usual_settings(const TrainTask& task);

// Throws Error(usage) if the settings are out of range or do not fit the task: one sentence,
// naming the setting.
void check_training(const TrainTask& task, const TrainingSettings& settings);

// What a step measured and did.
struct TrainingStep {
  Index step = 0;     // 0, 1, …
  BatchResult batch;  // before the update
  StepReport update;
};

// Why a run stopped by itself, before its step changed anything.
struct TrainingFailure {
  Index step = 0;
  std::string tensor;  // "layers.0.self_attn.in_proj_weight", "layers.1.attn_weights", or "loss"
  std::string what;    // "step 412: the gradient of … is not finite; choose a smaller learning rate"
};

// Everything a run needs to go on: the state after `step` steps.
template <class T>
struct TrainingState {
  Index step = 0;
  std::vector<T> values, first, second;  // first and second: of the optimiser, empty where it has none
};

// The measured habits of a head: mean weights of core/model/heads/head_scores.h over held-out examples; no
// value where no query counts.
struct TrainedHabits {
  std::optional<double> previous_token, induction, same_token, first_token;
  std::optional<double> next_token = std::nullopt;  // only without the causal mask
  std::optional<double> sink = std::nullopt;        // what the sink takes of a query's weight; only with one
};

// A head has a habit if its mean weight there is at least this, and that much more than at the beginning:
// with few kinds of token, a head that looks everywhere alike gives much of its weight to the same token.
inline constexpr double habit_from = 0.3, habit_grown_by = 0.2;
constexpr bool is_habit(std::optional<double> weight, std::optional<double> at_the_beginning) {
  return weight.value_or(0.0) >= habit_from &&
         weight.value_or(0.0) >= at_the_beginning.value_or(0.0) + habit_grown_by;
}

// On how many held-out examples of this length a training is measured, wherever its loss and accuracy are
// given, and on how many of them the habits of its heads: fewer of long ones.
Index measured_examples(Index length);
Index measured_habit_examples(Index length);

template <class T>
class TrainingRun {
 public:
  // Throws as check_training does.
  TrainingRun(TrainTask task, const TrainingSettings& settings);

  const TrainTask& task() const { return task_; }
  const TrainingSettings& settings() const { return settings_; }
  const std::vector<TrainParameter>& parameters() const { return pass_.parameters(); }
  Index step() const { return optimiser_.steps(); }  // how many were taken

  // Draws the batch of this step, and changes the parameters by its gradient. Nothing if the loss or the
  // gradient is not finite, or the loss exceeds `exploded_loss`: then failure() says where it began, and
  // further calls do nothing but throw Error(usage).
  std::optional<TrainingStep> take_step();
  const std::optional<TrainingFailure>& failure() const { return failure_; }

  // Loss and accuracy on the first `examples` held-out examples, without dropout; measured_examples of them
  // unless given.
  BatchResult held_out(std::optional<Index> examples = std::nullopt);
  // Of each layer and head, on the first held-out examples; measured_habit_examples of them unless given.
  std::vector<std::vector<TrainedHabits>> habits(std::optional<Index> examples = std::nullopt);
  // The attention maps (1,H,L,S) of each layer for one held-out example.
  std::vector<Tensor> held_out_maps(Index example);

  std::span<const T> values() const { return values_; }
  std::span<const T> gradient() const { return gradient_; }  // that was applied last
  const Optimiser<T>& optimiser() const { return optimiser_; }
  const TrainBatch& batch() const { return batch_; }  // of the last step

  TrainingState<T> state() const;
  // Throws Error(usage) if the state is not one of these settings.
  void restore(const TrainingState<T>& state);

 private:
  TrainingFailure failure_of(const BatchResult& result);

  TrainTask task_;
  TrainingSettings settings_;
  TrainPass<T> pass_;
  Optimiser<T> optimiser_;
  std::vector<T> values_, gradient_;
  TrainBatch batch_, held_out_batch_;
  std::optional<TrainingFailure> failure_;
};

// A cross-entropy above this has exploded: guessing costs ln V, at most 11.1.
inline constexpr double exploded_loss = 1e4;

// The seeds of a step's dropout, one for each layer: layer l has CounterRandom(seed, "dropout of
// steps").bits(4·step + l).
std::vector<std::uint64_t> dropout_seeds_of(const TrainingSettings& settings, Index step);

extern template class TrainingRun<float>;
extern template class TrainingRun<double>;

}  // namespace headwise
