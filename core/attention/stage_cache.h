// The stages of a pass, and the stage cache: an edit recomputes only what depends on it. A stage whose
// choices and source tensors equal those in the previous trace reuses its tensor.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "core/attention/trace.h"

namespace headwise {

// The relative cost of each stage of a pass, for reporting progress.

// Where a stage starts and ends, as fractions 0 … 1 of its pass.
struct StageCost {
  double from = 0.0, to = 0.0;
};

// The stages of a forward or a backward pass (those of the gradients) with these options and inputs, in
// order. Measured in multiply-adds: shares of the total, not seconds. Stages of negligible cost have none.
std::map<TensorId, StageCost> stage_costs(const AttentionOptions& options, const TraceTensors& tensors,
                                          bool backward);

// The options and sizes that a stage depends on, as numbers.
template <class... Choice>
std::vector<double> stage_choices(Choice... choice) {
  return {static_cast<double>(choice)...};
}
// The choices for dropout: its probability, and its seed in two halves that a double holds exactly.
inline std::vector<double> seed_choices(const AttentionOptions& options) {
  return stage_choices(options.dropout, options.dropout_seed & 0xFFFFFFFFu, options.dropout_seed >> 32);
}

// A tensor, what it is computed from, and how. Where an earlier run computed it from other sources, `update`
// is tried first: given those and the tensor, it returns that tensor if nothing has changed, a new one, or
// null, in which case `compute` is called.
struct Stage {
  using Compute = std::function<Tensor()>;
  using Update = std::function<TensorPtr(const StageKey& earlier, const TensorPtr& tensor)>;
  TensorId id;
  StageKey key;
  Compute compute;
  Update update;
};

// What becomes of the stages of a pass, which arrive in the order of computation (multi_head_attention.h).
class Stages {
 public:
  virtual ~Stages() = default;
  void run(TensorId id, std::vector<TensorPtr> sources, Stage::Compute compute,
           std::vector<double> choices = {}, Stage::Update update = nullptr) {
    take({id, {std::move(choices), std::move(sources)}, std::move(compute), std::move(update)});
  }
  // The stage changes nothing: both names hold the same tensor.
  void same(TensorId id, const TensorPtr& source) { name(id, source, source); }
  // The stage is left out, and nothing is computed from `source`.
  void none(TensorId id, const TensorPtr& source) { name(id, source, nullptr); }
  // Whether the stage keeps its tensor in any case. Then the pass need not say what it is computed from,
  // which would cost more than the rest of a small trial of compare.
  virtual bool keeps(TensorId) { return false; }

 private:
  virtual void take(Stage stage) = 0;
  virtual void name(TensorId id, const TensorPtr& source, const TensorPtr& tensor) = 0;
};

class StageCache final : public Stages {
 public:
  enum class Pass { forward, backward };

  // Both must outlive this; `previous` may be null.
  StageCache(Trace& trace, const Trace* previous, Pass pass = Pass::forward)
      : trace_(trace), previous_(previous), backward_(pass == Pass::backward) {}

 private:
  // Puts the tensor (in a backward pass its gradient) into the trace: the one of `previous` if it was
  // computed from the same sources, tensor by tensor, with the same choices; otherwise the result of `update`
  // or `compute`. Records both, and whether it was computed.
  void take(Stage stage) override;
  void name(TensorId id, const TensorPtr&, const TensorPtr& tensor) override { slot(id) = tensor; }
  TensorPtr& slot(TensorId id) {
    return (backward_ ? trace_.grad : trace_.tensors).*(tensor_entry(id).member);
  }

  Trace& trace_;
  const Trace* previous_;
  const bool backward_;
  std::optional<std::map<TensorId, StageCost>> costs_;  // set when the first stage begins
};

// Which stages a run may reuse from the previous one. Arrays count as the same if they are one array, not
// merely equal. Each function is about one stage and assumes that everything before that stage is unchanged.

// Whether q, k and v are computed from query, key and value in the same way:
// with the same sizes and parameters.
bool have_same_projection_parameters(const Trace& before, const AttentionInputs& inputs);
// Whether q, k and v are unchanged: the inputs are the same too.
bool have_same_projections(const Trace& before, const AttentionInputs& inputs);
// If q, k and v are unchanged: whether head_output, attn_weights and dropped_weights are too. Masks, frozen
// heads and all options are the same except those read later: head_gain, residual, layer_norm,
// need_weights, average_attn_weights.
bool have_same_attention(const Trace& before, const AttentionInputs& inputs);
// If head_output is unchanged: whether output is too, with the same gains and parameters.
bool have_same_output(const Trace& before, const AttentionInputs& inputs);

}  // namespace headwise
