#include "core/attention/frozen_heads.h"

#include <algorithm>

#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

// Calls visit(begin in (N,H,L,S′), begin in (N,F,L,S′), cells) for every slice of a frozen head.
template <class Visit>
void visit_slices(const Shape& shape, std::span<const Index> heads, Visit&& visit) {
  const Index batch = shape.size(0), all_heads = shape.size(1), cells = shape.size(2) * shape.size(3);
  const auto frozen = static_cast<Index>(heads.size());
  for (Index n = 0; n < batch; ++n) {
    for (Index f = 0; f < frozen; ++f) {
      visit((n * all_heads + heads[static_cast<std::size_t>(f)]) * cells, (n * frozen + f) * cells, cells);
    }
  }
}

}  // namespace

Tensor with_frozen_heads(Tensor weights, const Tensor& frozen_weights, std::span<const Index> heads) {
  const auto copy = [&]<class From, class To>(std::span<const From> held, std::span<To> out) {
    visit_slices(weights.shape(), heads, [&](Index to, Index from, Index cells) {
      std::transform(held.begin() + from, held.begin() + from + cells, out.begin() + to,
                     [](From weight) { return static_cast<To>(weight); });
    });
  };
  dispatch_float(weights.dtype(), [&]<class To>() {
    dispatch_float(frozen_weights.dtype(),
                   [&]<class From>() { copy(frozen_weights.values<From>(), weights.values<To>()); });
  });
  return weights;
}

Tensor with_heads_of(Tensor x, const Tensor& from, std::span<const Index> heads) {
  dispatch_float(x.dtype(), [&]<class T>() {
    const auto source = from.values<T>();
    const auto out = x.values<T>();
    visit_slices(x.shape(), heads, [&](Index at, Index, Index cells) {
      std::copy_n(source.begin() + at, cells, out.begin() + at);
    });
  });
  return x;
}

Tensor with_zero_heads(Tensor x, std::span<const Index> heads) {
  dispatch_float(x.dtype(), [&]<class T>() {
    const auto out = x.values<T>();
    visit_slices(x.shape(), heads,
                 [&](Index at, Index, Index cells) { std::fill_n(out.begin() + at, cells, T{0}); });
  });
  return x;
}

std::vector<HeadRange> unfrozen_heads(Index num_heads, std::span<const Index> heads) {
  std::vector<bool> frozen(static_cast<std::size_t>(num_heads), false);
  for (const Index head : heads) frozen[static_cast<std::size_t>(head)] = true;
  std::vector<HeadRange> ranges;
  for (Index h = 0; h < num_heads; ++h) {
    if (frozen[static_cast<std::size_t>(h)]) continue;
    if (ranges.empty() || ranges.back().end != h) ranges.push_back({h, h});
    ranges.back().end = h + 1;
  }
  return ranges;
}

}  // namespace headwise
