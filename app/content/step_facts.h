// What the words of a step depend on, taken from what was computed: a layer without biases adds none, a finite fill blocks
// nothing, a row without a key sums to nothing.
#pragma once

#include "core/trace/steps.h"
#include "core/trace/trace.h"

namespace headwise {

struct StepFacts {
  AttentionOptions options;
  bool projection_bias = true, output_bias = true;
  // Of the mask over the map that is looked at: whether pairs are blocked, and whether others get a number that is not 0.
  bool masked = true, blocks = true, adds = false;
  // Rows of the weights that are looked at: without a key that counts, and so NaN, or 0 where that is the rule.
  Index nan_rows = 0, zero_rows = 0;
};

// For the map of this sequence and head; of maps only what the words of this step say is counted.
StepFacts step_facts(const Trace& trace, Step step, Index batch, Index head);

}  // namespace headwise
