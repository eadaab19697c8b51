#include "core/trace/stage_sharing.h"

#include "core/tensor/cancellation.h"

namespace headwise {

void StageSharing::stage(TensorId id, StageKey key, const std::function<Tensor()>& make) {
  TensorPtr& slot = trace_.tensors.*(tensor_entry(id).member);
  if (previous_) {
    const auto earlier = previous_->stages.find(id);
    if (earlier != previous_->stages.end() && earlier->second == key) slot = previous_->tensor(id);
  }
  if (!slot) {
    check_cancelled();
    slot = std::make_shared<const Tensor>(make());
    trace_.computed.push_back(id);
  }
  trace_.stages.insert_or_assign(id, std::move(key));
}

}  // namespace headwise
