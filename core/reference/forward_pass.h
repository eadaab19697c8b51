// One forward pass of the reference while it is under way: what every step of it reads and writes. Private to core/reference.
#pragma once

#include "core/reference/stage_cache.h"
#include "core/trace/attention_sizes.h"

namespace headwise {

struct ForwardPass {
  TraceTensors& tensors;  // the inputs, and what was computed so far
  const AttentionOptions& options;
  const AttentionSizes& sizes;
  DType dtype;
  StageCache& cache;
};

}  // namespace headwise
