#include "core/attention/attention_mask.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/attention/indexer.h"
#include "core/attention/relative_bias.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

double slope_of(Index h, Index heads) {
  return std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(heads));
}

}  // namespace

std::vector<double> alibi_slopes(Index heads, double scale) {
  std::vector<double> slopes;
  const auto power = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  for (Index h = 0; h < power; ++h) slopes.push_back(slope_of(h, power));
  for (Index h = 0; power + h < heads; ++h) slopes.push_back(slope_of(2 * h, 2 * power));
  for (double& slope : slopes) slope *= scale;
  return slopes;
}

double alibi_bias(double slope, Index distance, bool is_causal) {
  if (distance < 0 && is_causal) return 0.0;
  return -slope * static_cast<double>(std::abs(distance));
}

namespace {

template <class T>
constexpr T blocked = -std::numeric_limits<T>::infinity();

// What one cell of a given mask adds.
template <class T>
struct MaskCell {
  bool true_blocks;
  T operator()(std::uint8_t cell) const { return (cell != 0) == true_blocks ? blocked<T> : T{0}; }
  T operator()(float cell) const { return static_cast<T>(cell); }
  T operator()(double cell) const { return static_cast<T>(cell); }
};

// The rows of mask_bias, each with its indices; a row spans S, without the appended columns.
template <class T>
class Rows {
 public:
  Rows(Tensor& mask_bias, Index keys)
      : bias_(mask_bias.values<T>()), shape_(mask_bias.shape()), keys_(keys) {}

  Index heads() const { return shape_.size(1); }
  Index keys() const { return keys_; }

  // Rows are independent and distributed over the available threads.
  template <class F>
  void for_each(F&& f) {
    const Index heads = shape_.size(1), queries = shape_.size(2), all_keys = shape_.size(3);
    for_ranges(shape_.size(0) * heads * queries, 2.0 * static_cast<double>(keys_), [&](Index first, Index last) {
      for (Index row = first; row < last; ++row)
        f(row / queries / heads, row / queries % heads, row % queries,
          bias_.subspan(static_cast<std::size_t>(row * all_keys), static_cast<std::size_t>(keys_)));
    });
  }

 private:
  std::span<T> bias_;
  const Shape& shape_;
  Index keys_;
};

template <class T, class M>
void add_attn_mask(Rows<T>& rows, std::span<const M> mask, const AttnMaskView& view, bool true_blocks) {
  const MaskCell<T> added{true_blocks};
  rows.for_each([&](Index n, Index h, Index l, std::span<T> row) {
    const Index first = n * view.step_n + h * view.step_h + l * view.step_l;
    for (Index s = 0; s < static_cast<Index>(row.size()); ++s) {
      row[static_cast<std::size_t>(s)] +=
          s < view.keys ? added(mask[static_cast<std::size_t>(first + s * view.step_s)]) : blocked<T>;
    }
  });
}

template <class T, class M>
void add_key_padding_mask(Rows<T>& rows, std::span<const M> mask) {
  const MaskCell<T> added{true};
  rows.for_each([&](Index n, Index, Index, std::span<T> row) {
    const auto padding = mask.subspan(static_cast<std::size_t>(n) * row.size(), row.size());
    for (std::size_t s = 0; s < row.size(); ++s) row[s] += added(padding[s]);
  });
}

// Calls f with the values of a mask in their stored type.
template <class F>
void visit_mask(const Tensor& mask, F&& f) {
  switch (mask.dtype()) {
    case DType::boolean:
      return f(mask.values<std::uint8_t>());
    case DType::f32:
      return f(mask.values<float>());
    case DType::f64:
      return f(mask.values<double>());
    case DType::i64:
      break;
  }
  throw Error(ExitStatus::input, {"mask", "this is not a type for masks", "i64", "bool, f32 or f64", ""});
}

template <class T>
void block_beyond_valid_lens(Rows<T>& rows, const GivenMasks& given, Index queries) {
  rows.for_each([&](Index n, Index, Index l, std::span<T> row) {
    const auto keys = static_cast<Index>(row.size());
    for (Index s = valid_keys(given, n, l, queries, keys); s < keys; ++s)
      row[static_cast<std::size_t>(s)] += blocked<T>;
  });
}

// Calls f(head, the row, the key at the query's own position).
template <class T, class F>
void for_each_placed(Rows<T>& rows, const AttentionOptions& options, const GivenMasks& given, Index queries,
                     F&& f) {
  rows.for_each([&](Index n, Index h, Index l, std::span<T> row) {
    f(h, row, l + causal_offset(options, given, n, queries, static_cast<Index>(row.size())));
  });
}

template <class T>
void block_by_position(Rows<T>& rows, const AttentionOptions& options, const GivenMasks& given, Index queries) {
  const PositionWindow seen = seen_by_position(options);
  for_each_placed(rows, options, given, queries, [&](Index, std::span<T> row, Index own) {
    const auto keys = static_cast<Index>(row.size());
    const Index begin = std::clamp<Index>(own - seen.behind, 0, keys);
    const Index end = std::clamp<Index>(own + seen.ahead + 1, begin, keys);
    for (Index s = 0; s < begin; ++s) row[static_cast<std::size_t>(s)] += blocked<T>;
    for (Index s = end; s < keys; ++s) row[static_cast<std::size_t>(s)] += blocked<T>;
  });
}

template <class T>
void add_alibi(Rows<T>& rows, const AttentionOptions& options, const GivenMasks& given, Index queries) {
  const std::vector<double> slopes = alibi_slopes(rows.heads(), options.alibi_scale);
  for_each_placed(rows, options, given, queries, [&](Index h, std::span<T> row, Index own) {
    for (Index s = 0; s < static_cast<Index>(row.size()); ++s) {
      row[static_cast<std::size_t>(s)] +=
          static_cast<T>(alibi_bias(slopes[static_cast<std::size_t>(h)], own - s, options.is_causal));
    }
  });
}

template <class T>
void add_relative_bias(Rows<T>& rows, const AttentionOptions& options, const GivenMasks& given, Index queries) {
  const RelativeBiasTable table(*options.relative_bias, *given.relative_bias_weight, rows.keys() + queries);
  for_each_placed(rows, options, given, queries, [&](Index h, std::span<T> row, Index own) {
    for (Index s = 0; s < static_cast<Index>(row.size()); ++s)
      row[static_cast<std::size_t>(s)] += static_cast<T>(table(h, s - own));
  });
}

// Last, for it chooses among the keys that all the others leave.
template <class T>
void block_unchosen(Rows<T>& rows, const Indexer& indexer, const Tensor& scores) {
  rows.for_each([&](Index n, Index, Index l, std::span<T> row) {
    std::vector<char> allowed(row.size());
    for (std::size_t s = 0; s < row.size(); ++s) allowed[s] = row[s] != blocked<T>;
    const ChosenKeys chosen(indexer_row(scores, n, l), allowed, indexer.k);
    for (std::size_t s = 0; s < row.size(); ++s)
      if (!chosen(static_cast<Index>(s))) row[s] = blocked<T>;
  });
}

}  // namespace

GivenMasks given_masks(const TraceTensors& t) {
  return {t.attn_mask.get(),        t.key_padding_mask.get(),     t.valid_lens.get(),
          t.nonpad_kv_seqlen.get(), t.relative_bias_weight.get(), t.indexer_scores.get()};
}

std::optional<AttnMaskView> view_attn_mask(Op op, const Shape& mask, Index batch, Index heads, Index queries,
                                           Index keys) {
  if (projects(op)) {
    const std::vector<Index> sizes = mask.sizes();
    if (sizes == std::vector<Index>{queries, keys}) return AttnMaskView{0, 0, keys, 1, keys};
    if (sizes == std::vector<Index>{batch * heads, queries, keys}) {
      return AttnMaskView{heads * queries * keys, queries * keys, keys, 1, keys};
    }
    return std::nullopt;
  }
  if (mask.rank() > 4) return std::nullopt;
  const std::vector<Index> strides = mask.strides();
  const Index wanted[4] = {batch, heads, queries, keys};
  Index steps[4] = {0, 0, 0, 0};
  AttnMaskView view;
  view.keys = keys;
  for (Index axis = 0; axis < mask.rank(); ++axis) {
    const Index target = axis + 4 - mask.rank();  // aligned at the right
    const Index size = mask.size(axis);
    const bool repeats = size == 1;
    const bool is_short = target == 3 && size < keys;
    if (!repeats && size != wanted[target] && !is_short) return std::nullopt;
    steps[target] = repeats ? 0 : strides[static_cast<std::size_t>(axis)];
    if (is_short && !repeats) view.keys = size;
  }
  view.step_n = steps[0];
  view.step_h = steps[1];
  view.step_l = steps[2];
  view.step_s = steps[3];
  return view;
}

Index causal_offset(const AttentionOptions& options, Index queries, Index keys) {
  return options.causal_alignment == CausalAlignment::top_left ? options.past_length.value_or(0)
                                                               : keys - queries;
}

Index causal_offset(const AttentionOptions& options, const GivenMasks& given, Index n, Index queries,
                    Index keys) {
  if (!given.nonpad_kv_seqlen) return causal_offset(options, queries, keys);
  return given.nonpad_kv_seqlen->values<std::int64_t>()[static_cast<std::size_t>(n)] - queries;
}

Index valid_keys(const GivenMasks& given, Index n, Index query, Index queries, Index keys) {
  const auto cut = [&](const Tensor* lens) {
    if (!lens) return;
    const Index at = lens->shape().rank() == 2 ? n * queries + query : n;
    keys = std::min<Index>(
        keys, std::max<std::int64_t>(0, lens->values<std::int64_t>()[static_cast<std::size_t>(at)]));
  };
  cut(given.valid_lens);
  cut(given.nonpad_kv_seqlen);
  return keys;
}

bool only_zeros_and_ones(const Tensor& mask) {
  if (mask.dtype() != DType::f32 && mask.dtype() != DType::f64) return false;
  bool any = false;
  for (Index i = 0; i < mask.size(); ++i) {
    const double value = mask.flat(i);
    if (value != 0.0 && value != 1.0) return false;
    any = any || value == 1.0;
  }
  return any;
}

bool has_any_mask(const AttentionOptions& options, const GivenMasks& given) {
  return given.attn_mask || given.key_padding_mask || given.valid_lens || given.nonpad_kv_seqlen ||
         depends_on_distance(options) || options.indexer;
}

Tensor merge_masks(const AttentionOptions& options, const GivenMasks& given, Shape mask_bias, Index keys,
                   DType dtype) {
  Tensor bias = Tensor::unwritten(std::move(mask_bias), dtype);
  const Index batch = bias.shape().size(0);
  const Index heads = bias.shape().size(1);
  const Index queries = bias.shape().size(2);
  dispatch_float(dtype, [&]<class T>() {
    T* const zeros = bias.values<T>().data();
    for_ranges(bias.size(), 0.5,
               [&](Index first, Index last) { std::fill(zeros + first, zeros + last, T{0}); });
    Rows<T> rows(bias, keys);
    if (given.attn_mask) {
      const auto view =
          view_attn_mask(options.op, given.attn_mask->shape(), batch, heads, queries, keys).value();
      const bool true_blocks = projects(options.op);
      visit_mask(*given.attn_mask, [&](auto cells) { add_attn_mask(rows, cells, view, true_blocks); });
    }
    if (given.key_padding_mask) {
      visit_mask(*given.key_padding_mask, [&](auto cells) { add_key_padding_mask(rows, cells); });
    }
    if (given.valid_lens || given.nonpad_kv_seqlen) block_beyond_valid_lens(rows, given, queries);
    if (seen_by_position(options).bounds()) block_by_position(rows, options, given, queries);
    if (options.alibi) add_alibi(rows, options, given, queries);
    if (options.relative_bias) add_relative_bias(rows, options, given, queries);
    if (options.indexer && given.indexer_scores)
      block_unchosen(rows, *options.indexer, *given.indexer_scores);
  });
  return bias;
}

namespace {

// Adds each cell of grad_mask_bias to the cell of the mask that it came from.
Tensor sum_over_view(const Tensor& grad_mask_bias, const AttnMaskView& view, const Shape& mask) {
  std::vector<double> sums(static_cast<std::size_t>(mask.element_count()), 0.0);
  const Shape& shape = grad_mask_bias.shape();
  Index row = 0;
  for (Index n = 0; n < shape.size(0); ++n) {
    for (Index h = 0; h < shape.size(1); ++h) {
      for (Index l = 0; l < shape.size(2); ++l, row += shape.size(3)) {
        const Index first = n * view.step_n + h * view.step_h + l * view.step_l;
        for (Index s = 0; s < view.keys; ++s) {
          sums[static_cast<std::size_t>(first + s * view.step_s)] += grad_mask_bias.flat(row + s);
        }
      }
    }
  }
  return Tensor(mask, std::move(sums)).converted(grad_mask_bias.dtype());
}

}  // namespace

Tensor attn_mask_gradient(Op op, const Tensor& grad_mask_bias, const Shape& attn_mask, Index keys) {
  const Shape& bias = grad_mask_bias.shape();
  return sum_over_view(grad_mask_bias,
                       view_attn_mask(op, attn_mask, bias.size(0), bias.size(1), bias.size(2), keys).value(),
                       attn_mask);
}

Tensor sum_over_batch(const Tensor& grad_mask_bias, const Shape& position_bias, Index keys) {
  const std::vector<Index> steps = position_bias.strides();
  return sum_over_view(grad_mask_bias, AttnMaskView{0, steps[1], steps[2], 1, keys}, position_bias);
}

Tensor key_padding_mask_gradient(const Tensor& grad_mask_bias, const Shape& key_padding_mask) {
  const Index keys = key_padding_mask.size(1);
  return sum_over_view(grad_mask_bias, AttnMaskView{keys, 0, 0, 1, keys}, key_padding_mask);
}

}  // namespace headwise
