#include "core/reference/stage_cache.h"

#include <optional>

#include "core/tensor/cancellation.h"
#include "core/tensor/progress.h"

namespace headwise {

void StageCache::stage(TensorId id, std::vector<TensorPtr> sources, const Compute& compute,
                       std::vector<double> choices, const Update& update) {
  StageKey key{std::move(choices), std::move(sources)};
  if (!costs_) costs_ = stage_costs(trace_.options, trace_.tensors, backward_);
  const auto cost = costs_->find(id);
  std::optional<ProgressPart> part;
  if (cost != costs_->end()) part.emplace(cost->second.from, cost->second.to, tensor_entry(id).name.data());
  TensorPtr& slot = (backward_ ? trace_.grad : trace_.tensors).*(tensor_entry(id).member);
  TensorPtr before;
  if (previous_) {
    const auto& stages = backward_ ? previous_->gradient_stages : previous_->stages;
    const auto earlier = stages.find(id);
    if (earlier != stages.end()) {
      before = previous_->tensor({id, backward_});
      if (earlier->second == key) {
        slot = before;
      } else if (before && update) {
        check_cancelled();
        slot = update(earlier->second, before);
      }
    }
  }
  const bool shared = slot && slot == before;
  if (!shared) {
    check_cancelled();
    if (!slot) slot = std::make_shared<const Tensor>(compute());
    (backward_ ? trace_.computed_gradients : trace_.computed).push_back(id);
  }
  (backward_ ? trace_.gradient_stages : trace_.stages).insert_or_assign(id, std::move(key));
}

}  // namespace headwise
