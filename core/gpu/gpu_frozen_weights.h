// Frozen heads on the GPU: their attention weights are given instead of computed.
#pragma once

#include <vector>

#include "core/gpu/gpu_attention.h"

namespace headwise {

struct GpuFrozenWeights {
  StorageBuffer weights;     // (N,F,L,S′)
  std::vector<Index> heads;  // F of them
};

// Adds the jobs that write head_output of the frozen heads to the output of `attention`. Masks do not apply
// to them. Both must live until the work is done.
void add_frozen_weights(GpuWork& work, GpuPrograms& programs, const GpuAttention& attention,
                        const GpuFrozenWeights& held);

}  // namespace headwise
