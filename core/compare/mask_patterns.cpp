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
