// The relative cost of each stage of a pass, for reporting progress.
#pragma once

#include <map>

#include "core/trace/trace.h"

namespace headwise {

// Where a stage starts and ends, as fractions 0 … 1 of its pass.
struct StageCost {
  double from = 0.0, to = 0.0;
};

// The stages of a forward or a backward pass (those of the gradients) with these options and inputs, in order. Measured in
// multiply-adds: shares of the total, not seconds. Stages of negligible cost have none.
std::map<TensorId, StageCost> stage_costs(const AttentionOptions& options, const TraceTensors& tensors,
                                          bool backward);

}  // namespace headwise
