// Merges all masks of one attention into a bias that is added to the scaled scores. Sources:
// F.multi_head_attention_forward (attn_mask, key_padding_mask), F.scaled_dot_product_attention and ONNX
// Attention (boolean masks with the opposite meaning, broadcasting, masks shorter than S), d2l (valid_lens),
// Mistral (sliding window), ALiBi.
#pragma once

#include <optional>

#include "core/attention/attention_options.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Null if there is no such mask. A blocking boolean cell counts as -inf, a float is added as it is.
struct GivenMasks {
  const Tensor* attn_mask = nullptr;         // bool, f32 or f64; shapes: AttnMaskView
  const Tensor* key_padding_mask = nullptr;  // (N,S), bool (True is ignored), f32 or f64
  const Tensor* valid_lens = nullptr;        // (N) or (N,L), i64: key j takes part if j < len
};

// How an attn_mask maps onto (N,H,L,S): a step of 0 repeats. Multi-head attention takes (L,S) and (N·H,L,S),
// index n·H + h. Scaled dot-product attention takes anything that broadcasts to (N,H,L,S) from the right, and
// masks shorter than S.
struct AttnMaskView {
  Index step_n = 0, step_h = 0, step_l = 0, step_s = 0;  // in elements
  Index keys = 0;  // columns covered by the mask; the rest, up to S, are blocked
};
// nullopt if the shape does not fit.
std::optional<AttnMaskView> view_attn_mask(Op op, const Shape& mask, Index batch, Index heads, Index queries,
                                           Index keys);

// The offset that aligns queries with keys in causal masks, windows and ALiBi: key i + offset is "the same
// position" as query i. top_left: 0; bottom_right: S − L.
Index causal_offset(CausalAlignment alignment, Index queries, Index keys);

// Whether a mask of floating-point numbers has only 0 and 1, at least one of them: it is added, but a boolean
// mask may have been meant.
bool only_zeros_and_ones(const Tensor& mask);

// Whether any mask is given or requested, that is, whether a mask_bias exists.
bool has_any_mask(const AttentionOptions& options, const GivenMasks& given);

// mask_bias (N,H,L,S′): the sum of all masks, -inf where any of them blocks. `keys` is S; the columns from S
// on, appended by bias_k and the zero row, stay 0. With options.mask_value the -inf stays too: it marks the
// cells that mask_scores fills. The shapes of the masks must already have been checked.
Tensor merge_masks(const AttentionOptions& options, const GivenMasks& given, Shape mask_bias, Index keys,
                   DType dtype);

}  // namespace headwise
