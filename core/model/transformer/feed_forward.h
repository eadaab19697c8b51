// The part of a block that processes each token independently: two linear maps with an activation between, or
// SwiGLU's three (Shazeer 2020).
#pragma once

#include "core/model/transformer/transformer_config.h"
#include "core/model/transformer/transformer_linear.h"

namespace headwise {

// gelu: x·Φ(x) (torch.nn.functional.gelu); gelu_tanh: its approximation by tanh (approximate="tanh");
// quick_gelu: x·σ(1.702·x); silu: x·σ(x).
void activate(Activation activation, Rows& x);

struct FeedForward {
  TransformerLinear in;                   // (F,E)
  std::optional<TransformerLinear> gate;  // (F,E)
  TransformerLinear out;                  // (E,F)
  Activation activation = Activation::gelu;
};

// out(activation(in·x)), or with a gate: out(activation(gate·x) ∘ in·x).
Rows feed_forward(const FeedForward& parts, const Rows& x);

}  // namespace headwise
