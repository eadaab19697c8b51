// An edit recomputes only what depends on it: a stage whose choices and source tensors are those of the
// previous trace takes its tensor from there.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "core/reference/stage_costs.h"
#include "core/trace/trace.h"

namespace headwise {

class StageCache {
 public:
  enum class Pass { forward, backward };

  // Both must outlive this; `previous` may be null.
  StageCache(Trace& trace, const Trace* previous, Pass pass = Pass::forward)
      : trace_(trace), previous_(previous), backward_(pass == Pass::backward) {}

  // Puts the tensor `id` (in a backward pass its gradient) into the trace, from `previous` where it holds one
  // under an equal key, else from `make`, and records the key, and whether it was computed.
  void stage(TensorId id, StageKey key, const std::function<Tensor()>& make);

  // The same, but where `previous` holds one under another key, `beside` is asked first: it gets that key and tensor, and
  // gives back the tensor itself where it is the one that is wanted, a new one, or null: then it is made.
  using Update = std::function<TensorPtr(const StageKey& earlier, const TensorPtr& tensor)>;
  void stage(TensorId id, StageKey key, const std::function<Tensor()>& make, const Update& beside);

 private:
  Trace& trace_;
  const Trace* previous_;
  const bool backward_;
  std::optional<std::map<TensorId, StageCost>> shares_;  // told when the first stage begins
};

}  // namespace headwise
