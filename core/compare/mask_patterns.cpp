#include "core/compare/mask_patterns.h"

#include <cmath>
#include <limits>
#include <utility>

#include "core/attention/attention_mask.h"
#include "core/compare/tensor_fill.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double large_negative = -1e9;

using Change = std::function<void(AttentionInputs&)>;

Change both(Change first, Change then) {
  if (!first) return then;
  return [first = std::move(first), then = std::move(then)](AttentionInputs& inputs) {
    first(inputs);
    then(inputs);
  };
}

}  // namespace

Tensor merged_masks(const Trace& so_far, const MaskChoice& choice) {
  const TraceTensors& t = so_far.tensors;
  AttentionOptions options = so_far.options;
  GivenMasks given;
  if (choice.attn_mask) given.attn_mask = t.attn_mask.get();
  if (choice.padding) {
    given.key_padding_mask = t.key_padding_mask.get();
    given.valid_lens = t.valid_lens.get();
  }
  if (!choice.by_position) {
    options.is_causal = options.alibi = false;
    options.sliding_window.reset();
  }
  const AttentionSizes sizes = attention_sizes(so_far.options, t);
  return merge_masks(options, given, sizes.scores_shape(), sizes.keys, DType::f64);
}

std::vector<Tensor> single_masks(const Trace& so_far, bool window_apart) {
  const AttentionOptions& o = so_far.options;
  Trace none = so_far;
  none.tensors.attn_mask = none.tensors.key_padding_mask = none.tensors.valid_lens = nullptr;
  none.options.is_causal = none.options.alibi = false;
  none.options.sliding_window.reset();
  std::vector<Tensor> masks;
  const auto add = [&](bool there, const std::function<void(Trace&)>& keep) {
    if (!there) return;
    Trace alone = none;
    keep(alone);
    masks.push_back(merged_masks(alone, {}));
  };
  for (const auto member :
       {&TraceTensors::attn_mask, &TraceTensors::key_padding_mask, &TraceTensors::valid_lens})
    add(so_far.tensors.*member != nullptr,
        [&](Trace& alone) { alone.tensors.*member = so_far.tensors.*member; });
  add(o.is_causal, [&](Trace& alone) {
    alone.options.is_causal = true;
    if (!window_apart) alone.options.sliding_window = o.sliding_window;
  });
  add(o.sliding_window && (window_apart || !o.is_causal),
      [&](Trace& alone) { alone.options.sliding_window = o.sliding_window; });
  if (!o.alibi) return masks;
  Trace slopes = none;
  slopes.options.alibi = true;
  slopes.options.is_causal = o.is_causal;  // what is ahead then gets 0 from ALiBi
  masks.push_back(
      mapped_cells(merged_masks(slopes, {}), [](double bias) { return is_blocked(bias) ? 0.0 : bias; }));
  return masks;
}

Trace trace_of_masks(const AttentionInputs& inputs) {
  Trace trace;
  trace.options = resolved_options(inputs);
  trace.tensors = inputs.tensors;
  return trace;
}

StageChange masked_as(std::function<double(double score, double bias)> value) {
  return {TensorId::masked_scores, [value = std::move(value)](const Trace& so_far) {
            const Tensor& bias = required(so_far, TensorId::mask_bias);
            Tensor result = *so_far.tensors.scaled_scores;
            for (Index i = 0; i < result.size(); ++i) result.set_flat(i, value(result.flat(i), bias.flat(i)));
            return result;
          }};
}

StageChange alibi_with(std::vector<double> slopes) {
  return {TensorId::mask_bias, [slopes = std::move(slopes)](const Trace& so_far) {
            Trace without = so_far;
            without.options.alibi = false;
            const Tensor others = merged_masks(without, {});
            const AttentionSizes sizes = attention_sizes(so_far.options, so_far.tensors);
            const Index offset = causal_offset(so_far.options.causal_alignment, sizes.queries, sizes.keys);
            const bool causal = so_far.options.is_causal;
            const Cells before(others);
            return filled4(others.shape(), [&](Index n, Index h, Index l, Index s) {
              const double bias = before(n, h, l, s);
              if (s >= sizes.keys) return bias;
              return bias + alibi_bias(slopes[static_cast<std::size_t>(h)], l + offset - s, causal);
            });
          }};
}

StageChange blocked_where(const MaskChoice& others, Blocks blocks) {
  return {TensorId::mask_bias, [others, blocks = std::move(blocks)](const Trace& so_far) {
            Tensor bias = merged_masks(so_far, others);
            const Index keys = attention_sizes(so_far.options, so_far.tensors).keys;
            const Cells before(bias);
            return filled4(bias.shape(), [&](Index n, Index h, Index l, Index s) {
              return s < keys && blocks(n, h, l, s) ? -infinity : before(n, h, l, s);
            });
          }};
}

void add_with_row_answers(const AttentionOptions& options, const ProgramVariant& variant,
                          ProgramVariants& variants) {
  variants.push_back(variant);
  const bool zero = options.fully_masked_rows == FullyMaskedRows::zero;
  ProgramVariant other_rows = variant;
  other_rows.change = both(variant.change, [zero](AttentionInputs& inputs) {
    inputs.options.fully_masked_rows = zero ? FullyMaskedRows::nan : FullyMaskedRows::zero;
    inputs.options.mask_value.reset();
  });
  other_rows.detail = zero ? "rows whose keys are then all blocked become NaN"
                           : "rows whose keys are then all blocked become 0";
  variants.push_back(std::move(other_rows));
  if (options.mask_value) return;
  ProgramVariant filled = variant;
  filled.change =
      both(variant.change, [](AttentionInputs& inputs) { inputs.options.mask_value = large_negative; });
  filled.detail = "blocked cells are filled with a large negative number, -1e9 say";
  variants.push_back(std::move(filled));
  ProgramVariant added = variant;
  added.stages.push_back({TensorId::masked_scores, [](const Trace& so_far) {
                            const Tensor& scores = *so_far.tensors.scaled_scores;
                            const Cells score(scores), masked(*so_far.tensors.masked_scores);
                            return filled4(scores.shape(), [&](Index n, Index h, Index l, Index s) {
                              const double cell = masked(n, h, l, s);
                              return std::isinf(cell) && cell < 0 ? score(n, h, l, s) + large_negative : cell;
                            });
                          }});
  added.detail = "a large negative number is added to blocked cells, -1e9 say";
  variants.push_back(std::move(added));
}

}  // namespace headwise
