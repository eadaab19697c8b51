// The indexer of DeepSeek sparse attention: DeepSeek-V3.2-Exp (DeepSeek-AI, 2025), section 2.1;
// DeepseekV32Indexer of transformers. A second, small attention scores every pair of tokens, and of the keys
// that a query may look at only the k with the highest scores take part. All heads share these scores:
//
//     indexer_q = rotated(query·W_qbᵀ)     indexer_k = rotated(LayerNorm(key·W_kᵀ))
//     indexer_weights = query·W_wᵀ/√Hi
//     indexer_scores[n,l,s] = Σ_m indexer_weights[n,l,m] · ReLU(indexer_q[n,m,l]·indexer_k[n,0,s] / √W)
//
// The queries of multi_head_latent_attention are made of compressed_q instead of query, as in DeepSeek-V3.2.
// The choice is not differentiable: no gradient reaches the indexer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/norm.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/tensor_names.h"

namespace headwise {

struct ForwardPass;

// The norm of the indexer's keys, before its weight and bias.
inline constexpr Norm indexer_norm{NormKind::layer, 1e-6, 0.0};

// What indexer_q is made of: query, or compressed_q.
TensorId indexer_source(const AttentionOptions& options);
// Its width: E, or q_lora_rank.
Index indexer_source_width(const AttentionOptions& options);

// The layer's frequencies, with the indexer's own pairs, from the first column on; none where the layer has
// no RoPE.
Rotation indexer_rotation(const AttentionOptions& options);

// What is wrong with the indexer's sizes, as a sentence that begins behind "indexer."; empty if nothing is.
std::string indexer_problem(const AttentionOptions& options);

// (N,L,E) → (N,Hi,L,W), `weight` (Hi·W,E); or from compressed_q, with Cq in place of E.
Tensor indexer_queries(const Tensor& source, const Tensor& weight, const AttentionOptions& options,
                       const AttentionSizes& sizes);
// (N,S,kdim) → (N,1,S,W), `weight` (W,kdim); gain and bias (W) of the norm may be null: 1 and 0.
Tensor indexer_keys(const Tensor& key, const Tensor& weight, const Tensor* gain, const Tensor* bias,
                    const AttentionOptions& options, const AttentionSizes& sizes);
// (N,L,E) → (N,L,Hi), `weight` (Hi,E).
Tensor indexer_weights(const Tensor& query, const Tensor& weight, const AttentionOptions& options,
                       const AttentionSizes& sizes);
// (N,L,S). f32 or f64; sums are in double, rounded once.
Tensor indexer_scores(const Tensor& q, const Tensor& k, const Tensor& weights);

// The four tensors as stages of a pass, before its scores.
void score_keys(ForwardPass& pass);
// indexer_scores in f64, from inputs of any type: the same numbers as the exact twin of an f32 trace has, so
// that no rounding decides which keys are chosen. Null without an indexer.
TensorPtr exact_indexer_scores(const AttentionOptions& options, const TraceTensors& inputs);

// full_weights: the softmax of the scaled scores with `bias`, the merge of all masks without the indexer's
// choice; frozen heads keep theirs.
Tensor full_weights(const Tensor& scaled_scores, const Tensor& bias, const AttentionOptions& options,
                    const Tensor* sinks, const Tensor* frozen_weights);
// Options without the choice, for that bias.
AttentionOptions without_indexer(AttentionOptions options);

// Which keys of a row take part: of those that `allowed` leaves the k with the largest scores; of equal
// scores the first; NaN counts as the largest, as in torch.topk. All of them if there are at most k.
class ChosenKeys {
 public:
  ChosenKeys(std::span<const double> scores, const std::vector<char>& allowed, Index k);

  bool operator()(Index key) const { return chosen_[static_cast<std::size_t>(key)] != 0; }
  Index allowed() const { return static_cast<Index>(order_.size()); }
  // 1 for the largest; nullopt if the masks leave the key out.
  std::optional<Index> rank(Index key) const;
  // The allowed keys, the largest score first.
  const std::vector<Index>& order() const { return order_; }

 private:
  std::vector<Index> order_;
  std::vector<char> chosen_;
};

// The row (n,l) of indexer_scores in double.
std::vector<double> indexer_row(const Tensor& indexer_scores, Index n, Index l);

// The choice in one row of mask_bias, among the keys that the other masks of the trace leave to head h.
ChosenKeys chosen_keys(const Trace& trace, Index n, Index h, Index l);

}  // namespace headwise
