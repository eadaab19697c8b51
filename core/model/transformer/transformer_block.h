// One block of a transformer: attention, then the feed-forward part, each with its norm and its residual.
//
//   post-norm (BERT)          x = norm₁(x + attention(x));   x = norm₂(x + feed_forward(x))
//   pre-norm (GPT-2, Llama)   x = x + attention(norm₁(x));   x = x + feed_forward(norm₂(x))
//   parallel (GPT-NeoX)       x = x + attention(norm₁(x)) + feed_forward(norm₂(x))
//
// What a model leaves out (the norms, the feed-forward part, the output projection) is skipped.
#pragma once

#include <memory>

#include "core/model/transformer/transformer_parts.h"

namespace headwise {

struct TransformerBlock {
  TransformerLinear q, k, v, out;
  Normalisation attention_norm, feed_forward_norm;
  FeedForward feed;
  Index bytes = 0;  // of all arrays
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

// The norm named `norm` ("bert.embeddings.LayerNorm.").
Normalisation read_norm(const TransformerConfig& config, const ModelFiles& files, const std::string& norm,
                        Index width);
void check_norm(const TransformerConfig& config, const ModelFiles& files, const std::string& norm, Index width);
// A linear map `name` ("lm_head.dense.") with its bias.
TransformerLinear read_linear(const ModelFiles& files, const std::string& name, Index out, Index in,
                              bool conv1d, Biases biases);

}  // namespace headwise
