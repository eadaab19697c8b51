// The update of a single parameter value, with all terms of its formula,
// and what each token of the batch adds to its gradient.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/attention/tensor_names.h"
#include "core/train/train_model.h"
#include "core/train/training_run.h"

namespace headwise {

// The terms of core/train/train_optimiser.h for one value in one step.
// Those that the optimiser does not have are 0.
struct CellUpdate {
  std::string name;  // "layers.0.self_attn.in_proj_weight[3, 17]"; of a vector: "norm.bias[3]"
  Index step = 0;    // the step that is explained: 0, 1, …
  OptimiserConfig optimiser;
  bool frozen = false;  // the value belongs to a frozen head: nothing changes

  double value = 0.0;           // w before the step
  double batch_gradient = 0.0;  // of the mean loss of the batch
  double gradient_norm = 0.0;   // over all parameters, before clipping
  double clip_factor = 1.0;
  double gradient = 0.0;  // g = clip factor · gradient of the batch
  double learning_rate = 0.0;
  double first_before = 0.0, second_before = 0.0;          // m and v before the step
  double first = 0.0, second = 0.0;                        // m and v after it
  double first_correction = 1.0, second_correction = 1.0;  // 1 − beta1^t, 1 − beta2^t
  double first_unbiased = 0.0, second_unbiased = 0.0;      // m̂ and v̂
  double result = 0.0;  // w after the step, as the run has it, to the last bit
};

// Where the gradient of a value came from.
struct GradientSources {
  Index sequences = 0, length = 0;
  // What each token adds to CellUpdate::gradient, clipped as it is; (sequences,length). They add up to it,
  // up to rounding.
  std::vector<double> of_tokens;
  double of_sequence(Index sequence) const;
};

// A step of a run, held still: computes the gradient of its batch once, and then explains any value.
template <class T>
class StepExplanation {
 public:
  // The step that a run with this task and these settings takes from the state `before`. Throws Error(usage)
  // if the state is not one of these settings, or the gradient is not finite; Error(cancelled).
  StepExplanation(const TrainTask& task, const TrainingSettings& settings, TrainingState<T> before);

  Index step() const { return before_.step; }
  const TrainBatch& batch() const { return batch_; }
  const std::vector<TrainParameter>& parameters() const { return pass_.parameters(); }

  // `row` is 0 for a vector. Throw Error(usage) for a cell outside of the parameter's shape.
  CellUpdate update(std::size_t parameter, Index row, Index column) const;
  // Takes about as long as a step.
  GradientSources sources(std::size_t parameter, Index row, Index column);

 private:
  Index index_of(std::size_t parameter, Index row, Index column) const;

  TrainingSettings settings_;
  TrainingState<T> before_;
  TrainPass<T> pass_;
  TrainBatch batch_;
  std::vector<T> gradient_;  // before clipping
  std::vector<std::uint8_t> frozen_;
  StepReport report_;
};

// "w − lr·m̂/(√v̂ + ε) = 0.0312 − 0.001·0.42/(0.031 + 1e-08) = 0.0177"
std::string update_formula(const CellUpdate& update);
// The lines before it: those of g, m, v, m̂ and v̂ that the optimiser has,
// each as "m = β1·m + (1 − β1)·g = … = 0.42".
std::vector<std::string> update_terms(const CellUpdate& update);

extern template class StepExplanation<float>;
extern template class StepExplanation<double>;

// Where a number that the attention of one layer is computed from stands among the parameters of a training.

// A cell of train_parameters(config)[parameter]; the row is 0 in a vector.
struct TrainedCell {
  std::size_t parameter = 0;
  Index row = 0, column = 0;
  friend bool operator==(const TrainedCell&, const TrainedCell&) = default;
};

// `index`: of a cell of `tensor` in the trace of layer `layer`, whose parameters are the training's: the
// trace has them under PyTorch's names, in PyTorch's order, as the training does. nullopt for a tensor that
// is no parameter of the training (without W_O, out_proj.weight is an identity that is never trained), and
// for a cell outside of the parameter.
std::optional<TrainedCell> trained_cell(const TrainModelConfig& config, Index layer, TensorId tensor,
                                        std::span<const Index> index);

}  // namespace headwise
