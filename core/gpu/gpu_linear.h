// One linear layer on the GPU.
#pragma once

#include <vector>

#include "core/attention/changed_tokens.h"
#include "core/gpu/gpu_programs.h"
#include "core/gpu/gpu_work.h"
#include "core/gpu/storage_buffer.h"

namespace headwise {

// out[n, part, row, column] = Σ_e x[n,row,e]·weight[first_weight_row + part·out_part + column, e] + bias[…].
// Buffers must live until the work is done.
struct GpuLinear {
  const StorageBuffer* x = nullptr;  // (N, rows, depth)
  Index batch = 1, rows = 1, depth = 1;
  const StorageBuffer* weight = nullptr;  // (…, depth)
  Index first_weight_row = 0, columns = 1;
  const StorageBuffer* bias = nullptr;  // null: none
  Index first_bias_entry = 0;
  const StorageBuffer* out = nullptr;
  Index out_part = 1;         // columns side by side: Dv for separate heads, all for rows as in nn.Linear
  Index out_row_stride = 1;   // numbers
  Index out_part_stride = 1;  // at least rows · out_row_stride if there are several parts
  Index out_batch_stride = 1;
  const std::vector<TokenRange>* only = nullptr;  // rows to compute, the others are left unchanged; null: all
};

// Adds the jobs that compute it, split so that none binds more of a buffer than the context allows.
// `only` is not read later.
void add_linear(GpuWork& work, GpuPrograms& programs, const GpuLinear& linear);

}  // namespace headwise
