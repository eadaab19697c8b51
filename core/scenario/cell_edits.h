// Manual edits of cells of inputs, parameters and masks.
#pragma once

#include "core/attention/trace.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_plan.h"

namespace headwise {

// Applies scenario.edits to copies of the tensors, in order. query, key, value and parameters are addressed
// in the layouts of the trace; a row of in_proj_weight may also be addressed in q_proj_weight, k_proj_weight
// or v_proj_weight and vice versa, so that an edit survives a change of layout. If there is no attn_mask or
// key_padding_mask, editing it creates one that blocks nothing, of bool, (L,S) or (N·H,L,S) depending on the
// length of the index, or (N,S). In self-attention key and value are the query and are edited there. Throws
// Error(usage) for a tensor that is computed, absent or unknown, an index out of range, a value that its type
// cannot represent.
void apply_edits(const Scenario& scenario, const ScenarioPlan& plan, TensorMaker& maker,
                 AttentionInputs& inputs);

}  // namespace headwise
