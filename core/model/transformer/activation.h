// The activation between the two linear maps of a feed-forward part: its values, and what config.json says
// of it.
#pragma once

#include "core/files/json_value.h"
#include "core/model/transformer/transformer_weights.h"

namespace headwise {

// gelu: x·Φ(x) (torch.nn.functional.gelu); gelu_tanh: its approximation by tanh (approximate="tanh");
// quick_gelu: x·σ(1.702·x); silu: x·σ(x); relu_squared: max(0, x)².
void activate(Activation activation, Rows& x);

const char* activation_name(Activation activation);  // "GELU", "GELU (tanh)" …

// Whether a feed-forward part has a gate, as SwiGLU's.
bool is_gated(const TransformerConfig& config);

// Of the blocks, and of a head on top of them. Throws Error(input) for one that is not known here, or that
// contradicts the arrays.
Activation read_activation(const JsonValue& settings, const TransformerConfig& config);
Activation read_head_activation(const JsonValue& settings, const TransformerConfig& config,
                                const LmHeadNames& head);

}  // namespace headwise
