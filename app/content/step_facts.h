// What the text of a step depends on, derived from what was computed: a layer without biases adds none, a finite fill
// blocks nothing, a row without a key sums to nothing.
#pragma once

#include "core/trace/steps.h"
#include "core/trace/trace.h"

namespace headwise {

struct StepFacts {
  AttentionOptions options;
  bool projection_bias = true, output_bias = true;
  // Of the mask over the current map: whether pairs are blocked, and whether others are given a nonzero number.
  bool masked = true, blocks = true, adds = false;
  // Rows of the current weights that have no unblocked key: NaN, or 0 where that is the rule.
  Index nan_rows = 0, zero_rows = 0;
};

// For the map of this sequence and head; only what the text of this step mentions is counted.
StepFacts step_facts(const Trace& trace, Step step, Index batch, Index head);

}  // namespace headwise
