// The linear layers before and after attention, with panels on one side or both.
#pragma once

#include "core/attention/linear.h"
#include "core/fused/fused_layout.h"

namespace headwise {

// A row-major (N, tokens, width) as panels.
Panels panels_of(const FusedKernels& kernels, const float* rows, Index batch, Index tokens, Index width,
                 int threads);

struct ProjectionTarget {
  Panels* panels = nullptr;  // of as many rows as features; null: not wanted as panels
  float* rows = nullptr;     // row-major, `batch_stride` from one batch to the next; null: not wanted
  Index batch_stride = 0;
};

// y[n,token,o] = Σ_k x[n,token,k]·weight[o,k] + bias[o] for the `features` rows of the weight that `rows` names.
void project(const FusedKernels& kernels, const Panels& x, Index depth, const LinearRows& rows,
             Index features, const ProjectionTarget& to, int threads);

}  // namespace headwise
