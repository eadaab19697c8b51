// The forward and the backward pass of a trained model over a batch, on all available threads. The results do
// not depend on the number of threads: sequences are always summed in the same order. They are rounded
// differently with another instruction set.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/train/train_model.h"

namespace headwise {

// Sequences of equal length, one behind the other.
struct TrainBatch {
  Index sequences = 0;
  Index length = 0;                       // 1 … the longest sequence of the model
  std::vector<std::int32_t> tokens = {};  // (sequences,length), below the vocabulary
  // What the model should say at each position: a token, or −1 where its prediction does not count.
  std::vector<std::int32_t> targets = {};
};

struct BatchResult {
  double loss = 0.0;  // mean cross-entropy over the positions that count; 0 if there are none
  Index counted = 0;  // positions
  Index correct = 0;  // of them, those whose largest logit is the target's (the first of equal ones)
};
// The share that is correct; 0 if no position counts.
inline double accuracy_of(const BatchResult& result) {
  return result.counted == 0 ? 0.0 : static_cast<double>(result.correct) / static_cast<double>(result.counted);
}

// Seeds of core/attention/softmax.h, one for each layer: weight (n,h,l,s) of the batch is multiplied by
// dropout_factor(p, seed, ((n·H + h)·T + l)·T + s). Empty: nothing is dropped.
using DropoutSeeds = std::span<const std::uint64_t>;

// Keeps its memory between calls. One call at a time.
template <class T>
class TrainPass {
 public:
  // Throws Error(usage) as check_train_model does.
  explicit TrainPass(const TrainModelConfig& config);
  ~TrainPass();
  TrainPass(const TrainPass&) = delete;
  TrainPass& operator=(const TrainPass&) = delete;

  const TrainModelConfig& config() const;
  const std::vector<TrainParameter>& parameters() const;
  Index size() const;  // of the array of all parameters

  // The mean loss of a batch and its gradient with respect to every parameter; 0 for values of frozen heads.
  // Throws Error(usage) for a batch that does not fit the model, Error(cancelled).
  BatchResult gradient(std::span<const T> values, const TrainBatch& batch, std::span<T> gradient,
                       DropoutSeeds dropout = {});

  // What each token of the batch (sequences,length) adds to one value of that gradient, value `which` of the
  // array: of a matrix, the gradient of its output there times its input there. They add up to it, up to
  // rounding; all 0 for a value of a frozen head.
  std::vector<T> gradient_shares(std::span<const T> values, const TrainBatch& batch, Index which,
                                 DropoutSeeds dropout = {});

  // The same as gradient() without the gradient and without dropout.
  BatchResult evaluate(std::span<const T> values, const TrainBatch& batch);

  // The attention maps (N,H,L,S) of each layer for a batch, without dropout.
  std::vector<Tensor> attention_weights(std::span<const T> values, const TrainBatch& batch);

  // σ of the output gate (N,L,H·D) of each layer for a batch; none without a gate.
  std::vector<Tensor> output_gates(std::span<const T> values, const TrainBatch& batch);

  // The first tensor of the forward pass that has a number which is not finite, as of a run whose loss is
  // not: "layers.0.attn_weights"; empty if all are finite.
  std::string first_not_finite(std::span<const T> values, const TrainBatch& batch);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class TrainPass<float>;
extern template class TrainPass<double>;

}  // namespace headwise
