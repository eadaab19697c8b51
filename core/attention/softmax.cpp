#include "core/attention/softmax.h"

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>

#include "core/attention/matrix_kernels.h"
#include "core/tensor/eigen_maps.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double cost_of_exponential = 12.0;  // in multiply-adds

template <class T>
bool all_blocked(std::span<const T> row) {
  return !row.empty() && std::ranges::all_of(row, [](T x) { return x == -std::numeric_limits<T>::infinity(); });
}

}  // namespace

Tensor softmax(const Tensor& masked_scores, FullyMaskedRows fully_masked, const Tensor* sinks) {
  Tensor weights = Tensor::unwritten(masked_scores.shape(), masked_scores.dtype());
  if (weights.size() == 0) return weights;
  const Index keys = masked_scores.shape().size(masked_scores.shape().rank() - 1);
  const Index queries = sinks ? masked_scores.shape().size(2) : weights.size() / keys;  // of one sink
  dispatch_float(masked_scores.dtype(), [&]<class T>() {
    for_ranges(weights.size() / keys, cost_of_exponential * static_cast<double>(keys),
               [&](Index first, Index last) {
                 const auto make = [&](Index row, Index rows, const double* x, double* to) {
                   const double sink = sinks ? sinks->flat(row / queries % sinks->size()) : -infinity;
                   matrix_kernels().softmax({rows, keys, x, to, fully_masked == FullyMaskedRows::zero, sink});
                 };
                 if constexpr (std::is_same_v<T, double>) {
                   for (Index row = first; row < last;) {
                     const Index end = std::min(last, (row / queries + 1) * queries);
                     make(row, end - row, all_rows<T>(masked_scores).row(row).data(),
                          all_rows<T>(weights).row(row).data());
                     row = end;
                   }
                 } else {
                   for (Index row = first; row < last; ++row) {
                     WideRow x = wide_row<T>(masked_scores, row);
                     make(row, 1, x.data(), x.data());
                     all_rows<T>(weights).row(row) = x.cast<T>();
                   }
                 }
               });
  });
  return weights;
}

Tensor log_sum_exp(const Tensor& masked_scores) {
  std::vector<Axis> axes = masked_scores.shape().axes();
  const Index keys = axes.back().size;
  axes.pop_back();
  Tensor sums = Tensor::unwritten(Shape(std::move(axes)), masked_scores.dtype());
  dispatch_float(sums.dtype(), [&]<class T>() {
    const std::span<T> to = sums.values<T>();
    if (keys == 0) std::ranges::fill(to, -std::numeric_limits<T>::infinity());
    if (keys == 0) return;
    for_ranges(sums.size(), cost_of_exponential * static_cast<double>(keys), [&](Index first, Index last) {
      for (Index row = first; row < last; ++row) {
        const WideRow x = wide_row<T>(masked_scores, row);
        to[static_cast<std::size_t>(row)] = static_cast<T>(matrix_kernels().log_sum_exp(x.data(), keys));
      }
    });
  });
  return sums;
}

double sink_share(double lse, double sink) {
  return 1.0 / (1.0 + std::exp(lse - sink));
}

Tensor sink_shares(const Tensor& lse, const Tensor& sinks) {
  Tensor shares = Tensor::unwritten(lse.shape(), lse.dtype());
  const Index queries = lse.shape().size(2);
  for (Index row = 0; row < lse.size(); ++row)
    shares.set_flat(row, sink_share(lse.flat(row), sinks.flat(row / queries % sinks.size())));
  return shares;
}

std::vector<double> sinks_of_heads(const AttentionOptions& options, const TraceTensors& tensors, Index heads) {
  std::vector<double> sinks = options.sink;
  if (sinks.size() == 1) sinks.resize(static_cast<std::size_t>(heads), sinks.front());
  if (!tensors.sinks) return sinks;
  sinks.resize(static_cast<std::size_t>(heads));
  for (Index h = 0; h < heads; ++h) sinks[static_cast<std::size_t>(h)] = tensors.sinks->flat(h);
  return sinks;
}

std::vector<Index> fully_masked_rows(const Tensor& masked_scores) {
  std::vector<Index> rows;
  if (masked_scores.size() == 0) return rows;
  const Index keys = masked_scores.shape().size(masked_scores.shape().rank() - 1);
  dispatch_float(masked_scores.dtype(), [&]<class T>() {
    for (Index first = 0; first < masked_scores.size(); first += keys) {
      if (all_blocked(masked_scores.values<T>().subspan(static_cast<std::size_t>(first),
                                                        static_cast<std::size_t>(keys)))) {
        rows.push_back(first / keys);
      }
    }
  });
  return rows;
}

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

double dropout_factor(double p, const CounterRandom& random, Index flat_cell) {
  const bool kept = random.uniform(static_cast<std::uint64_t>(flat_cell)) >= p;
  return kept ? 1.0 / (1.0 - p) : 0.0;
}

double dropout_factor(double p, std::uint64_t seed, Index flat_cell) {
  return dropout_factor(p, CounterRandom(seed, "dropout"), flat_cell);
}

Tensor dropout(const Tensor& attn_weights, double p, std::uint64_t seed) {
  Tensor dropped = Tensor::unwritten(attn_weights.shape(), attn_weights.dtype());
  drop_cells(attn_weights, dropped, 0, dropped.size(), p, seed, 0);
  return dropped;
}

void drop_cells(const Tensor& attn_weights, Tensor& dropped, Index at, Index count, double p,
                std::uint64_t seed, Index flat_cell) {
  const CounterRandom random(seed, "dropout");
  dispatch_float(attn_weights.dtype(), [&]<class T>() {
    const auto from = attn_weights.values<T>();
    const auto to = dropped.values<T>();
    for_ranges(count, cost_of_random, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        const auto cell = static_cast<std::size_t>(at + i);
        to[cell] = static_cast<T>(from[cell] * dropout_factor(p, random, flat_cell + i));
      }
    });
  });
}

}  // namespace headwise
