// The second result of torch.nn.MultiheadAttention, averaged over heads.
#pragma once

#include "core/tensor/tensor.h"

namespace headwise {

// 'nhls->nls', the mean over h: (N,H,L,S′) → (N,L,S′).
Tensor average_over_heads(const Tensor& weights);

}  // namespace headwise
