// What came of a run, in the numbers that tell two runs apart: how soon it learned, how well,
// and what each head looks at.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/train/training_changes.h"
#include "core/train/training_run.h"

namespace headwise {

// A run has learned its task when its loss is below this share of that of its first step.
inline constexpr double learned_share = 0.2;

// How far the output gate of a head is open, 0 … 1, the mean over its columns: of all tokens of held-out
// examples, and at the token where it is least or most.
struct HeadGate {
  double mean = 0.0, least = 0.0, most = 0.0;
};

// Of a head's learned biases, the largest, and how much it is above their mean over all distances that a
// sequence has.
struct HeadBias {
  Index distance = 0;  // of the key before its query; negative: after it
  double above = 0.0;
};

struct TrainingOutcome {
  TrainingSettings settings;
  Index parameters = 0;
  Index steps = 0;   // taken
  Index length = 1;  // of a sequence, in tokens

  double first_loss = 0.0, last_loss = 0.0,
         highest_loss = 0.0;        // of batches; last: the mean of the last 20, or of all
  std::optional<Index> learned_at;  // the first step with a loss below learned_share·first_loss
  std::optional<TrainingFailure> failure;

  BatchResult held_out;                        // as it was trained
  std::optional<BatchResult> held_out_causal;  // with the causal mask on, of a model that was trained without
  double guessed = 0.0;  // accuracy of always saying the most frequent answer of the held-out examples
  double next_answers =
      0.0;  // share of held-out answers that stand at the next position: seen without the causal mask

  std::vector<std::vector<TrainedHabits>> habits;         // of each layer and head
  std::vector<std::vector<TrainedHabits>> habits_before;  // the first step; empty: nothing is known of them
  // Of each layer, how far apart two heads' attention maps are: ½·Σ|p − p′| over the keys, 0 … 1, the mean
  // over pairs of heads and the queries of held-out examples; 0 with one head.
  std::vector<double> maps_apart;
  std::vector<std::vector<HeadGate>> gates;  // of each layer and head; empty without an output gate
  std::vector<HeadBias> biases;              // of each head, in all layers; empty without relative biases

  // How far apart the heads are in W_Q, W_K, W_V and W_O, as values and in the gradient that was applied
  // last: 0: equal to the last bit.
  double heads_apart = 0.0, head_gradients_apart = 0.0;
};

// `losses` are those of steps 0, 1, … as take_step() returned them. Measures on the first `examples` held-out
// examples (measured_examples of them unless given); changes nothing that the run goes on from.
template <class T>
TrainingOutcome training_outcome(TrainingRun<T>& run, std::span<const double> losses,
                                 std::optional<Index> examples = std::nullopt);

// The first step whose loss is below learned_share of the first; null: none yet.
std::optional<Index> learned_step(std::span<const double> losses);

// The largest difference between the same number of two heads, divided by the largest of those numbers; 0 if
// all are equal, or there is one head. Compares the rows of query, key and value heads with their biases, and
// the columns of W_O. `array` is one of all parameters: values or gradients.
template <class T>
double heads_apart(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters,
                   std::span<const T> array);

// The mean of ½·Σ|p − p′| over all pairs of heads of a map (1,H,L,S) and its queries.
double maps_apart(const Tensor& map);

// Of a model that was trained without the causal mask: the share of what it knows, above always saying the
// most frequent answer, that is left with the mask on; 1 of other models,
// and of one that knows hardly anything.
double known_with_mask(const TrainingOutcome& of);
inline constexpr double little_left = 0.25;
// Accuracy that is less above guessing is hardly knowledge.
inline constexpr double least_known = 0.1;

// What a change did to a training, in plain words that follow from the numbers of the two runs.

struct ChangeAnswer {
  std::string verdict;  // one sentence: which of the two learned the task, when and how well
  // sentences: what the heads do in both, and what of the change explains it
  std::vector<std::string> reasons;
};

// `as_it_is` and `changed` are outcomes of two runs of a task whose settings differ by the change. What is
// said is computed from them: of one seed, as the two runs are. Percentages are of held-out examples; head
// 1.2 is head 2 of layer 1.
ChangeAnswer change_answer(TrainingChange change, const TrainingOutcome& as_it_is,
                           const TrainingOutcome& changed);

// The verdict and the reasons as lines of text.
std::string text_of_answer(const ChangeAnswer& answer);

}  // namespace headwise
