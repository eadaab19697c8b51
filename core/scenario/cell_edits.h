// Cells of inputs, parameters and masks that were edited by hand.
#pragma once

#include "core/scenario/made_tensors.h"
#include "core/scenario/scenario_plan.h"
#include "core/trace/trace.h"

namespace headwise {

// Applies scenario.edits to copies of the tensors, in order. query, key, value and parameters are addressed
// in the layouts of the trace; a row of in_proj_weight may also be addressed in q_proj_weight, k_proj_weight
// or v_proj_weight and the other way round, so that an edit outlives a change of layout. Where there is no
// attn_mask or key_padding_mask an edit of it begins one that blocks nothing, of bool, (L,S) or (N·H,L,S) by
// the length of the index, or (N,S). In self-attention key and value are the query and are edited there.
// Throws Error(usage) for a tensor that is computed, absent or unknown, an index outside it, a value that its
// type cannot hold.
void apply_edits(const Scenario& scenario, const ScenarioPlan& plan, TensorMaker& maker,
                 AttentionInputs& inputs);

}  // namespace headwise
