// The ranges of values that the stage's colours stand for, computed once per tensor and batch and kept as
// long as the tensor lives.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "core/picture/heatmap.h"

namespace headwise {

class ValueRanges {
 public:
  // Over every map that the tensor has in this batch (all heads).
  ValueRange of(const TensorPtr& tensor, Index batch, bool probabilities);

  // Ranges of tensors that are gone are forgotten.
  void forget_dead();

 private:
  struct Entry {
    std::weak_ptr<const Tensor> tensor;
    ValueRange range;
  };
  std::map<std::pair<const Tensor*, Index>, Entry> entries_;
};

// The smallest range that covers both.
ValueRange joined(ValueRange a, ValueRange b);

}  // namespace headwise
