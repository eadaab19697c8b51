#include "core/trace/stage_sharing.h"

#include "core/tensor/cancellation.h"

namespace headwise {

void StageSharing::stage(TensorId id, StageKey key, const std::function<Tensor()>& make) {
  TensorPtr& slot = (backward_ ? trace_.grad : trace_.tensors).*(tensor_entry(id).member);
  if (previous_) {
    const auto& stages = backward_ ? previous_->gradient_stages : previous_->stages;
    const auto earlier = stages.find(id);
    if (earlier != stages.end() && earlier->second == key) slot = previous_->tensor({id, backward_});
  }
  if (!slot) {
    check_cancelled();
    slot = std::make_shared<const Tensor>(make());
    (backward_ ? trace_.computed_gradients : trace_.computed).push_back(id);
  }
  (backward_ ? trace_.gradient_stages : trace_.stages).insert_or_assign(id, std::move(key));
}

}  // namespace headwise
