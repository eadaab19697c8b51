// The norms between the parts of a block: torch.nn.LayerNorm (Ba et al. 2016) and RMSNorm (Zhang and Sennrich
// 2019), over the width of each token.
#pragma once

#include "core/model/transformer/transformer_linear.h"

namespace headwise {

// LayerNorm: (x − mean)/√(variance + ε)·gain + bias; RMSNorm: x/√(mean of x² + ε)·gain.
// Sums are computed in double.
struct Normalisation {
  TensorPtr gain;  // (E)
  TensorPtr bias;  // (E), or null: none
  double epsilon = 0.0;
  bool centred = true;  // LayerNorm
};

Rows normalised(const Normalisation& norm, const Rows& x);

}  // namespace headwise
