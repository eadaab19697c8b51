// The norms of q and k on the GPU (core/attention/norm.h).
#pragma once

#include "core/attention/norm.h"
#include "core/gpu/gpu_programs.h"
#include "core/gpu/gpu_work.h"
#include "core/gpu/storage_buffer.h"

namespace headwise {

// normed = rows, normalised. Buffers must live until the work is done.
struct GpuQkNorm {
  Norm norm;
  bool whole = false;  // all heads of a token as one row, else each head's row
  Index batch = 0, heads = 0, tokens = 0, width = 0;
  const StorageBuffer* rows = nullptr;    // (batch, heads, tokens, width)
  const StorageBuffer* gains = nullptr;   // (width) or (heads, width); null: all 1
  const StorageBuffer* normed = nullptr;  // (batch, heads, tokens, width)
};

// A sentence saying why another backend must compute it; empty if this one can.
std::string gpu_qk_norm_refusal(bool whole, Index numbers_of_batch, const GpuLimits& limits);

// Adds the jobs that compute it, split so that none binds more of a buffer than the context allows.
void add_qk_norm(GpuWork& work, GpuPrograms& programs, const GpuQkNorm& norm);

}  // namespace headwise
