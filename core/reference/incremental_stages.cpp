#include "core/reference/incremental_stages.h"

namespace headwise {
namespace {

// The product as `fill` writes it into the given tensor. Null if the earlier one had another shape: appended rows, which are
// not part of a product, may have been added to it.
TensorPtr product_from(const TensorPtr& before, const Shape& shape,
                       const std::function<ProductChange(Tensor& out)>& fill) {
  if (before->dtype() != DType::f64 || before->shape() != shape) return nullptr;
  Tensor out = Tensor::unwritten(shape, DType::f64);
  switch (fill(out)) {
    case ProductChange::none:
      return before;
    case ProductChange::some:
      return std::make_shared<const Tensor>(std::move(out));
    case ProductChange::most:
      break;
  }
  return nullptr;
}

}  // namespace

StageCache::Update update_linear(const TensorPtr& x, const LinearRows& rows, Shape shape,
                                 EarlierRows earlier_rows) {
  return [x, rows, shape = std::move(shape), earlier_rows = std::move(earlier_rows)](
             const StageKey& earlier, const TensorPtr& before) -> TensorPtr {
    const std::optional<LinearRows> earlier_weights = earlier_rows(earlier);
    if (!earlier_weights) return nullptr;
    return product_from(before, shape, [&](Tensor& y) {
      return incremental_linear(*x, rows, {*earlier.sources[0], *earlier_weights, *before}, y);
    });
  };
}

StageCache::Update update_heads(const TensorPtr& left, const TensorPtr& right, Shape shape,
                                IncrementalHeads product) {
  return [left, right, shape = std::move(shape), product](const StageKey& earlier, const TensorPtr& before) {
    return product_from(before, shape, [&](Tensor& out) {
      return product(*left, *right, {*earlier.sources[0], *earlier.sources[1], *before}, out);
    });
  };
}

}  // namespace headwise
