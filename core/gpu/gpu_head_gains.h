// The gains of a module's heads on the GPU.
#pragma once

#include "core/gpu/gpu_programs.h"
#include "core/gpu/gpu_work.h"
#include "core/gpu/storage_buffer.h"

namespace headwise {

// concat[token, h·Dv+e] = gains[h]·head_output[token, h·Dv+e]. Buffers must live until the work is done.
struct GpuHeadGains {
  Index tokens = 0, heads = 0, v_head_dim = 0;
  const StorageBuffer* head_output = nullptr;  // (tokens, H·Dv)
  const StorageBuffer* gains = nullptr;        // (H)
  const StorageBuffer* concat = nullptr;       // (tokens, H·Dv)
};

// Adds the jobs that compute it, split so that none binds more of a buffer than the context allows.
void add_head_gains(GpuWork& work, GpuPrograms& programs, const GpuHeadGains& gains);

}  // namespace headwise
