// Attention with linear biases (Press et al., "Train Short, Test Long", ICLR 2022): a bias that grows with
// distance is added to the scores.
#pragma once

#include <optional>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/attention/tensor_names.h"
#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

namespace headwise {

// m_h = 2^(−8(h+1)/H) if H is a power of two. Otherwise, as published by the authors: the slopes of the next
// lower power of two P, then every second slope of 2P, starting with the first, until there are H. All are
// multiplied by `scale` (AttentionOptions::alibi_scale).
std::vector<double> alibi_slopes(Index heads, double scale = 1.0);

// −m_h·distance, where distance = query + offset − key counts backwards. A key ahead of the query gets
// −m_h·|distance|; with a causal mask it is blocked anyway and gets 0.
double alibi_bias(double slope, Index distance, bool is_causal);

// Merges all masks of one attention into a bias that is added to the scaled scores. Sources:
// F.multi_head_attention_forward (attn_mask, key_padding_mask), F.scaled_dot_product_attention and ONNX
// Attention (boolean masks with the opposite meaning, broadcasting, masks shorter than S), d2l (valid_lens),
// Mistral (sliding window), ALiBi, T5 (relative biases), DeepSeek (an indexer's choice).

// Null if there is no such mask. A blocking boolean cell counts as -inf, a float is added as it is.
struct GivenMasks {
  const Tensor* attn_mask = nullptr;         // bool, f32 or f64; shapes: AttnMaskView
  const Tensor* key_padding_mask = nullptr;  // (N,S), bool (True is ignored), f32 or f64
  const Tensor* valid_lens = nullptr;        // (N) or (N,L), i64: key j takes part if j < len
  const Tensor* nonpad_kv_seqlen = nullptr;  // (N), i64: likewise, and query L − 1 stands at key len − 1
  const Tensor* relative_bias_weight = nullptr;  // (buckets,H), if options.relative_bias is set
  // (N,L,S), f32 or f64, if options.indexer is set; null: nothing is chosen
  const Tensor* indexer_scores = nullptr;
};
GivenMasks given_masks(const TraceTensors& tensors);

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
// position" as query i. top_left: P, the length of the past, or 0; bottom_right: `keys` − L, those of the
// past among them; with nonpad_kv_seqlen len − L, whatever the alignment.
Index causal_offset(const AttentionOptions& options, Index queries, Index keys);
Index causal_offset(const AttentionOptions& options, const GivenMasks& given, Index n, Index queries,
                    Index keys);
// How many keys of batch entry n there may be for a query: valid_lens and nonpad_kv_seqlen, at most `keys`.
Index valid_keys(const GivenMasks& given, Index n, Index query, Index queries, Index keys);

// Whether a mask of floating-point numbers has only 0 and 1, at least one of them: it is added, but a boolean
// mask may have been meant.
bool only_zeros_and_ones(const Tensor& mask);

// Whether any mask is given or requested, that is, whether a mask_bias exists.
bool has_any_mask(const AttentionOptions& options, const GivenMasks& given);

// mask_bias (N,H,L,S′): the sum of all masks, -inf where any of them blocks, and last where the indexer does
// not choose a key that they leave. `keys` is S; the columns from S
// on, appended by bias_k and the zero row, stay 0. With options.mask_value the -inf stays too: it marks the
// cells that mask_scores fills. The shapes of the masks must already have been checked.
Tensor merge_masks(const AttentionOptions& options, const GivenMasks& given, Shape mask_bias, Index keys,
                   DType dtype);

// d(loss) of numeric masks. A boolean mask has no gradient.

// d attn_mask, in its own shape: d mask_bias (N,H,L,S′) summed over the axes along which the mask repeats.
// `keys` is S.
Tensor attn_mask_gradient(Op op, const Tensor& grad_mask_bias, const Shape& attn_mask, Index keys);

// d position_bias: d mask_bias summed over the batch, 0 in the columns from `keys` on;
// its shape is (1,H,L,S′).
Tensor sum_over_batch(const Tensor& grad_mask_bias, const Shape& position_bias, Index keys);

// d key_padding_mask[n,s] = Σ_{h,l} d mask_bias[n,h,l,s]; its shape is (N,S).
Tensor key_padding_mask_gradient(const Tensor& grad_mask_bias, const Shape& key_padding_mask);

}  // namespace headwise
