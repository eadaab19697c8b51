// The affine maps of an encoder in f32: y = x·Wᵀ + b, for a few rows of x and large weights.
#pragma once

#include "core/tensor/eigen_maps.h"

namespace headwise {

using Rows = RowMatrix<float>;  // one row per token

// Neighbouring rows of a weight (out,in), torch.nn.Linear, or the whole of one (in,out), GPT-2's Conv1D.
struct EncoderLinear {
  TensorPtr weight = nullptr;
  TensorPtr bias = nullptr;  // null: none
  Index first_row = 0;       // of `weight`
  Index first_bias = 0;      // of `bias`
  Index out = 0, in = 0;
  bool is_conv1d = false;
};

// x (L,in) → (L,out). The numbers do not depend on the number of threads. Throws Error(cancelled).
Rows apply_linear(const EncoderLinear& linear, const Eigen::Ref<const Rows>& x);

}  // namespace headwise
