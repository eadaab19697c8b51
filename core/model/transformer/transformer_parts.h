// What the blocks of a transformer are made of, each over Rows in f32: the norms, the part that processes
// each token independently, and the attention, row by row, which core/attention computes in stages.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/model/transformer/transformer_config.h"
#include "core/model/transformer/transformer_linear.h"

namespace headwise {

// torch.nn.LayerNorm (Ba et al. 2016): (x − mean)/√(variance + ε)·gain + bias;
// RMSNorm (Zhang and Sennrich 2019): x/√(mean of x² + ε)·gain. Sums are computed in double.
struct Normalisation {
  TensorPtr gain;  // (E)
  TensorPtr bias;  // (E), or null: none
  double epsilon = 0.0;
  bool centred = true;  // LayerNorm
};

Rows normalised(const Normalisation& norm, const Rows& x);

// gelu: x·Φ(x) (torch.nn.functional.gelu); gelu_tanh: its approximation by tanh (approximate="tanh");
// quick_gelu: x·σ(1.702·x); silu: x·σ(x).
void activate(Activation activation, Rows& x);

// Two linear maps with an activation between, or SwiGLU's three (Shazeer 2020).
struct FeedForward {
  TransformerLinear in;                   // (F,E)
  std::optional<TransformerLinear> gate;  // (F,E)
  TransformerLinear out;                  // (E,F)
  Activation activation = Activation::gelu;
};

// out(activation(in·x)), or with a gate: out(activation(gate·x) ∘ in·x).
Rows feed_forward(const FeedForward& parts, const Rows& x);

// softmax(q·kᵀ·scale + ALiBi, causal if the model is)·v per head, without keeping the stages.
struct TransformerHeads {
  Index heads = 0, kv_heads = 0, head_dim = 0, v_head_dim = 0;  // H, G, D, Dv
  bool is_causal = false;
  std::optional<Index> sliding_window;         // query i sees keys j with |i − j| < this
  std::vector<double> alibi_slopes = {};       // per head (core/attention/alibi.h); empty: none
  std::optional<double> scale = std::nullopt;  // null: 1/√D
};

// q (L,H·D), k (L,G·D), v (L,G·Dv) → concat (L,H·Dv). Head h is multiplied by gains[h]; no gains: all 1.
// attn_weights: null, or room for H·L·L numbers. Throws Error(cancelled).
Rows attend(const TransformerHeads& layout, const Rows& q, const Rows& k, const Rows& v,
            std::span<const double> gains, float* attn_weights);

}  // namespace headwise
