// What each stage of a pass costs beside the others, so that it can be told how far the pass has come.
#pragma once

#include <map>

#include "core/trace/trace.h"

namespace headwise {

// From where to where a stage goes, 0 … 1 of its pass.
struct StageCost {
  double from = 0.0, to = 0.0;
};

// Of the stages of a forward or a backward pass (those of the gradients) with these options and inputs, in their order. By the
// number of multiply-adds: shares of a whole, not seconds. What costs next to nothing has none.
std::map<TensorId, StageCost> stage_costs(const AttentionOptions& options, const TraceTensors& tensors,
                                          bool backward);

}  // namespace headwise
