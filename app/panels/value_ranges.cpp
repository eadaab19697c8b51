#include "app/panels/value_ranges.h"

#include <algorithm>
#include <vector>

namespace headwise {

ValueRange ValueRanges::of(const TensorPtr& tensor, Index batch, bool probabilities) {
  const auto key = std::pair(tensor.get(), batch);
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.tensor.lock() == tensor) return found->second.range;

  const Shape& shape = tensor->shape();
  std::vector<MatrixView> views;
  if (tensor->size() > 0) {
    const bool batched = shape.rank() >= 3 && shape.name(0) == "N" && batch < shape.size(0);
    const Index cols = shape.rank() == 0 ? 1 : shape.size(shape.rank() - 1);
    const Index part = batched ? tensor->size() / shape.size(0) : tensor->size();
    views.push_back({tensor, batched ? batch * part : 0, part / cols, cols, cols, 1});
  }
  const ValueRange range = range_of(views, !probabilities, probabilities);
  forget_dead();
  entries_[key] = {tensor, range};
  return range;
}

void ValueRanges::forget_dead() {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.tensor.expired(); });
}

ValueRange joined(ValueRange a, ValueRange b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

}  // namespace headwise
