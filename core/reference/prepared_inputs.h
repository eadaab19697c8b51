// The inputs as the first step reads them. Private to core/reference.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// options.head_gain becomes the tensor head_gain, that of `previous` where it holds the same numbers: equal gains are an equal
// source. scaled_dot_product_attention is given its heads as query, key and value: they become q_heads, k_heads and v_heads.
void prepare_inputs(TraceTensors& t, const AttentionInputs& inputs, const Trace* previous);

}  // namespace headwise
