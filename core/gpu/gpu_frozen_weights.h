// Heads whose attention weights are held instead of computed, on the GPU.
#pragma once

#include <vector>

#include "core/gpu/gpu_attention.h"

namespace headwise {

struct GpuFrozenWeights {
  StorageBuffer weights;     // (N,F,L,S′)
  std::vector<Index> heads;  // F of them
};

// Adds the jobs that write head_output of the held heads, where `attention` has its own.
// Nothing of the masks reaches them. Both must live until the work is done.
void add_frozen_weights(GpuWork& work, GpuPrograms& programs, const GpuAttention& attention,
                        const GpuFrozenWeights& held);

}  // namespace headwise
