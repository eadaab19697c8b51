#include "app/content/value_ranges.h"

#include <algorithm>
#include <span>

namespace headwise {

ValueRange ValueRanges::of(const TensorPtr& tensor, Index batch, bool probabilities, const TensorPtr& mask,
                           double blocked_at) {
  const auto key = std::pair(tensor.get(), batch);
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    const Entry& entry = found->second;
    if (entry.tensor.lock() == tensor && entry.mask.lock() == mask && entry.blocked_at == blocked_at) {
      return entry.range;
    }
  }

  const Shape& shape = tensor->shape();
  HeatmapSpec spec;
  if (tensor->size() > 0) {
    const bool batched = shape.rank() >= 3 && shape.name(0) == "N" && batch < shape.size(0);
    const Index cols = shape.rank() == 0 ? 1 : shape.size(shape.rank() - 1);
    const Index part = batched ? tensor->size() / shape.size(0) : tensor->size();
    spec.values = {tensor, batched ? batch * part : 0, part / cols, cols, cols, 1};
    if (mask && mask->shape().same_sizes(shape)) {
      spec.mask = spec.values;
      spec.mask->tensor = mask;
      spec.blocked_at = blocked_at;
    }
  }
  const ValueRange range =
      range_of(std::span<const HeatmapSpec>(&spec, tensor->size() > 0 ? 1 : 0), !probabilities, probabilities);
  forget_dead();
  entries_[key] = {tensor, mask, blocked_at, range};
  return range;
}

ValueRange ValueRanges::widest(const TensorPtr& family, int key, Index batch, ValueRange range) {
  if (!family) return range;
  std::erase_if(families_, [](const auto& each) { return each.second.tensor.expired(); });
  const auto [known, first] = families_.try_emplace({family.get(), key, batch}, Family{family, range});
  known->second.range = joined(known->second.range, range);
  return known->second.range;
}

void ValueRanges::forget_dead() {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.tensor.expired(); });
}

ValueRange joined(ValueRange a, ValueRange b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

}  // namespace headwise
