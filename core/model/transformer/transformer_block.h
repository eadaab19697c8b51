// One block of a transformer: attention, then the feed-forward part, each with its norm and its residual.
//
//   post-norm (BERT)          x = norm₁(x + attention(x));   x = norm₂(x + feed_forward(x))
//   pre-norm (GPT-2, Llama)   x = x + attention(norm₁(x));   x = x + feed_forward(norm₂(x))
//   parallel (GPT-NeoX)       x = x + attention(norm₁(x)) + feed_forward(norm₂(x))
//
// Gemma 2 normalises what each part gives, too, before it is added; OLMo 2 does only that. What a model
// leaves out (norms, the feed-forward part, the output projection) is skipped.
#pragma once

#include <span>

#include "core/model/transformer/feed_forward.h"

namespace headwise {

// The attention of a block, row by row, which core/attention computes in stages.

// softmax(q·kᵀ·scale + ALiBi or relative bias, causal if the layer is)·v per head, without keeping stages:
// q (L,H·D), k (L,G·D), v (L,G·Dv) → concat (L,H·Dv). Head h is multiplied by gains[h]; no gains: all 1.
// attn_weights: null, or room for H·L·L numbers. sinks: a logit beside each row of a head, (H); null: none.
// relative_bias: (buckets,H), of layout.options.relative_bias. Throws Error(cancelled).
Rows attend(const TransformerHeads& layout, const Rows& q, const Rows& k, const Rows& v,
            std::span<const double> gains, float* attn_weights, const Tensor* sinks = nullptr,
            const Tensor* relative_bias = nullptr);

struct TransformerBlock {
  TransformerLinear q, k, v, out;
  // Instead of k and v: what latents and the columns that all keys share are made by, and from the latents of
  // each head the rest of its keys, then its values.
  TransformerLinear kv_a, kv_b;
  Normalisation latent_norm = {};
  TransformerLinear gate;  // of the concatenated heads (H·Dv,E), or of each head (H,E); no weight: none
  // Those without a gain leave x as it is.
  Normalisation attention_norm, feed_forward_norm, attention_output_norm, feed_forward_output_norm;
  FeedForward feed;
  Experts experts;  // instead of `feed`, if there are any
  TransformerHeads heads = {};
  TensorPtr q_norm = {}, k_norm = {};  // each as of core/attention/norm.h, or null
  TensorPtr sinks = {};                // (H), or null
  TensorPtr relative_bias = {};        // (buckets,H), or null
  Index bytes = 0;                     // of all arrays
};

// Checks that every array of block `layer` exists and has its shape, and that there is none that the
// transformer would ignore. Throws Error(input).
void check_block(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer);
// Reads the block. Throws Error(input), Error(memory).
TransformerBlock read_block(const TransformerConfig& config, const ModelFiles& files,
                            const AttentionLayer& layer);

// The input of the block's attention: x, or in pre-norm blocks its norm.
Rows attention_input(const TransformerConfig& config, const TransformerBlock& block, const Rows& x);
// Its attention, after the output projection: PyTorch's attn_output. See attend().
Rows attention_output(const TransformerConfig& config, const TransformerBlock& block, const Rows& input,
                      std::span<const double> gains, float* attn_weights);
// The rest of the block, where x is its input and `attended` the output of its attention.
Rows after_attention(const TransformerConfig& config, const TransformerBlock& block, const Rows& x,
                     const Eigen::Ref<const Rows>& attended);

}  // namespace headwise
