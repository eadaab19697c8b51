// The linear layers before and after attention.
#pragma once

#include "core/attention/linear.h"
#include "core/fused/fused_layout.h"

namespace headwise {

// One linear layer over tokens in panels, as tasks that can be done in any order and at once.
struct FusedProjection {
  const FusedKernels& kernels;
  const Panels& x;  // (N, tokens, depth)
  LinearRows weight;
  Index features;
  // Where y goes, one of them. Panels and heads may have more tokens than x: those behind are not touched.
  Panels* panels = nullptr;   // width: features
  HeadRows* heads = nullptr;  // heads·width: features
  float* rows = nullptr;      // row-major (N, tokens, features)
};

Index fused_projection_tasks(const FusedProjection& projection);
Index fused_projection_scratch();  // floats of a worker's own

// y[n,token,o] = Σ_k x[n,token,k]·weight[o,k] + bias[o] for some o and tokens. False where one of them is NaN or infinite.
bool fused_projection_task(const FusedProjection& projection, Index task, float* scratch);

}  // namespace headwise
