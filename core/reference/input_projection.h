// The first step of multi-head attention: q, k and v. Private to core/reference.
#pragma once

#include "core/attention/projection.h"
#include "core/reference/forward_pass.h"

namespace headwise {

// q, k or v (N,L,H·D), (N,S′,G·D), (N,S′,G·Dv): x·Wᵀ + b, or static_k or static_v with its heads side by side, and the rows
// appended by bias_k, bias_v and add_zero_attn. The matrix is either a range of rows of in_proj_weight or separate.
void input_projection(ForwardPass& pass, Projection which);

}  // namespace headwise
