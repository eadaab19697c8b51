#include "core/attention/blocked_cells.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/indexer.h"

namespace headwise {
namespace {

constexpr double blocked_bias = -std::numeric_limits<double>::infinity();

// (N,H,L,S′) → (N,L,S′): the most open of the heads.
TensorPtr over_heads(const Tensor& mask) {
  const Shape& shape = mask.shape();
  const Index heads = shape.size(1), cells = shape.size(2) * shape.size(3);
  Tensor all(Shape{shape.axes()[0], shape.axes()[2], shape.axes()[3]}, DType::f32);
  for (Index i = 0; i < all.size(); ++i) {
    double most_open = blocked_bias;
    for (Index head = 0; head < heads; ++head)
      most_open = std::max(most_open, mask.flat(((i / cells) * heads + head) * cells + i % cells));
    all.set_flat(i, most_open);
  }
  return std::make_shared<const Tensor>(std::move(all));
}

// mask_bias over the heads; +inf, not -inf, where no mask blocks and only the indexer leaves the key out.
TensorPtr choice_over_heads(const Trace& trace) {
  const Tensor& mask = *trace.tensors.mask_bias;
  const Index keys = attention_sizes(trace.options, trace.tensors).keys;
  const TensorPtr all = over_heads(mask);
  const TensorPtr masks = over_heads(merge_masks(without_indexer(trace.options), given_masks(trace.tensors),
                                                 mask.shape(), keys, mask.dtype()));
  Tensor choice(all->shape(), DType::f32);
  for (Index i = 0; i < choice.size(); ++i)
    choice.set_flat(
        i, masks->flat(i) != blocked_bias && all->flat(i) == blocked_bias ? -blocked_bias : all->flat(i));
  return std::make_shared<const Tensor>(std::move(choice));
}

// The result of `make` for the last mask that was asked for.
struct KnownMask {
  std::weak_ptr<const Tensor> mask;
  TensorPtr made;

  template <class Make>
  const TensorPtr& of(const TensorPtr& wanted, const Make& make) {
    if (mask.lock() != wanted) {
      made = make();
      mask = wanted;
    }
    return made;
  }
};

}  // namespace

bool is_masked(TensorName name) {
  switch (name.id) {
    case TensorId::masked_scores:
      return true;
    case TensorId::attn_weights:
    case TensorId::dropped_weights:
    case TensorId::mask_bias:
    case TensorId::indexer_scores:  // what is left shows the choice
    case TensorId::attn_output_weights:
      return !name.gradient;
    case TensorId::scores:
    case TensorId::scaled_scores:
      return name.gradient;
    default:
      return false;
  }
}

TensorPtr blocked_cells(const Trace& trace, TensorName name) {
  const TensorPtr& mask = trace.tensors.mask_bias;
  const TensorPtr tensor = is_masked(name) ? trace.tensor(name) : nullptr;
  if (!mask || !tensor) return nullptr;
  const Shape &shape = mask->shape(), &own = tensor->shape();
  if (shape.same_sizes(own)) return mask;
  const bool is_mean = shape.rank() == 4 && own.rank() == 3 && own.size(0) == shape.size(0) &&
                       own.size(1) == shape.size(2) && own.size(2) == shape.size(3) && shape.size(1) > 0;
  if (!is_mean) return nullptr;
  thread_local KnownMask mean, choice;
  if (name.id == TensorId::indexer_scores && trace.options.indexer)
    return choice.of(mask, [&] { return choice_over_heads(trace); });
  return mean.of(mask, [&] { return over_heads(*mask); });
}

double blocked_value(const Trace& trace, TensorName name) {
  return name.id == TensorId::indexer_scores ? -blocked_bias : trace.options.mask_value.value_or(blocked_bias);
}

bool is_blocked(const Trace& trace, TensorName name, const std::vector<Index>& index) {
  const TensorPtr mask = blocked_cells(trace, name);
  return mask && mask->at(index) == blocked_bias;
}

Index open_keys(const Trace& trace, Index batch, Index head, Index query) {
  const TensorPtr& weights = trace.tensors.attn_weights;
  const TensorPtr mask = blocked_cells(trace, {TensorId::attn_weights});
  const Index keys = weights->shape().size(3);
  if (!mask) return keys;
  const Index first = weights->shape().offset(std::vector<Index>{batch, head, query, 0});
  Index open = 0;
  for (Index i = first; i < first + keys; ++i)
    open += mask->flat(i) != blocked_bias || weights->flat(i) > 0.0 ? 1 : 0;
  return open;
}

}  // namespace headwise
