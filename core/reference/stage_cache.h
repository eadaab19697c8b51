// The stage cache: an edit recomputes only what depends on it. A stage whose choices and source tensors equal those in the
// previous trace reuses its tensor.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "core/reference/stage_costs.h"
#include "core/trace/trace.h"

namespace headwise {

// The options and sizes that a stage depends on, as numbers.
template <class... Choice>
std::vector<double> stage_choices(Choice... choice) {
  return {static_cast<double>(choice)...};
}
// The choices for dropout: its probability, and its seed in two halves that a double holds exactly.
inline std::vector<double> seed_choices(const AttentionOptions& options) {
  return stage_choices(options.dropout, options.dropout_seed & 0xFFFFFFFFu, options.dropout_seed >> 32);
}

class StageCache {
 public:
  enum class Pass { forward, backward };

  // Both must outlive this; `previous` may be null.
  StageCache(Trace& trace, const Trace* previous, Pass pass = Pass::forward)
      : trace_(trace), previous_(previous), backward_(pass == Pass::backward) {}

  // Puts the tensor `id` (in a backward pass its gradient) into the trace: the one of `previous` if it was computed from the same
  // `sources`, tensor by tensor, with the same `choices`; otherwise the result of `compute`. Records both, and whether it was
  // computed. If `previous` has it from other sources, `update` is tried first: given those sources and the tensor, it returns
  // that tensor if nothing has changed, a new one, or null, in which case `compute` is called.
  using Compute = std::function<Tensor()>;
  using Update = std::function<TensorPtr(const StageKey& earlier, const TensorPtr& tensor)>;
  void stage(TensorId id, std::vector<TensorPtr> sources, const Compute& compute,
             std::vector<double> choices = {}, const Update& update = nullptr);

 private:
  Trace& trace_;
  const Trace* previous_;
  const bool backward_;
  std::optional<std::map<TensorId, StageCost>> costs_;  // set when the first stage begins
};

}  // namespace headwise
