// The part of a transformer's block that processes each token by itself: two linear maps with an activation
// between, SwiGLU's three, or several such experts, of which a router chooses some for each token.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/transformer/transformer_weights.h"

namespace headwise {

// Two linear maps with an activation between, or SwiGLU's three (Shazeer 2020).
struct FeedForward {
  TransformerLinear in;                   // (F,E)
  std::optional<TransformerLinear> gate;  // (F,E)
  TransformerLinear out;                  // (E,F)
  Activation activation = Activation::gelu;
  std::optional<ClampedGate> clamped;  // instead of the activation
};

// out(activation(in·x)), or with a gate: out(activation(gate·x) ∘ in·x).
Rows feed_forward(const FeedForward& parts, const Rows& x);

// Mixtral (Jiang et al. 2024), section 2.1: the k largest logits of router·x choose the experts of a token,
// and what these give is added up, weighted by the softmax of the logits: of the chosen ones, or of all. Of
// equal logits the first are chosen.
struct Experts {
  TransformerLinear router;  // (N,E)
  Index chosen = 0;          // k, in [1,N]
  bool weighs_chosen = true;
  std::vector<FeedForward> each;  // N; empty: the block has no experts
};

Rows feed_forward(const Experts& experts, const Rows& x);

// Whether this block has experts: a router in the file, where the family has one.
bool has_experts(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer);
// F of its experts; 0 if the first one's arrays are missing.
Index expert_width(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer);
// The names of all arrays of the part; throws Error(input) for one that is missing or has the wrong shape.
std::set<std::string> check_feed_forward(const TransformerConfig& config, const ModelFiles& files,
                                         const AttentionLayer& layer);
FeedForward read_feed_forward(const TransformerConfig& config, const ModelFiles& files,
                              const AttentionLayer& layer);
Experts read_experts(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer);

}  // namespace headwise
