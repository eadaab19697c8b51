// The inputs as the first step reads them. Private to core/reference.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// Turns options.head_gain into the tensor head_gain, reusing that of `previous` if it holds the same numbers: equal gains then count as
// an equal source. scaled_dot_product_attention gets its heads as query, key and value: they become q_heads, k_heads and v_heads.
void prepare_inputs(TraceTensors& t, const AttentionInputs& inputs, const Trace* previous);

}  // namespace headwise
