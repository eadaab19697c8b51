// The value ranges that the stage's colours stand for, computed once per tensor and batch and cached as long as the tensor
// lives.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "core/picture/heatmap.h"

namespace headwise {

class ValueRanges {
 public:
  // Over every map that the tensor has in this batch (all heads). Cells blocked by `mask`, which has the same shape, do not
  // count where nothing but that is shown (core/picture/heatmap.h).
  ValueRange of(const TensorPtr& tensor, Index batch, bool probabilities, const TensorPtr& mask = nullptr,
                double blocked_at = -std::numeric_limits<double>::infinity());

  // The widest range given so far for `family` with this key: while a gain is dragged or a head soloed, the colours keep
  // their meaning, so the change is visible.
  ValueRange widest(const TensorPtr& family, int key, Index batch, ValueRange range);

  // Drops the ranges of tensors that no longer exist.
  void forget_dead();

 private:
  struct Entry {
    std::weak_ptr<const Tensor> tensor, mask;
    double blocked_at;
    ValueRange range;
  };
  std::map<std::pair<const Tensor*, Index>, Entry> entries_;
  struct Family {
    std::weak_ptr<const Tensor> tensor;
    ValueRange range;
  };
  std::map<std::tuple<const Tensor*, int, Index>, Family> families_;
};

// The smallest range that covers both.
ValueRange joined(ValueRange a, ValueRange b);

}  // namespace headwise
