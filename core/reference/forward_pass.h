// A forward pass of the reference in progress: what each of its steps reads and writes. Private to core/reference.
#pragma once

#include "core/reference/stage_cache.h"
#include "core/trace/attention_sizes.h"

namespace headwise {

struct ForwardPass {
  TraceTensors& tensors;  // the inputs, and what has been computed so far
  const AttentionOptions& options;
  const AttentionSizes& sizes;
  DType dtype;
  StageCache& cache;
};

}  // namespace headwise
