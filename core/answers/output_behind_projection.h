// The rest of the operator: the output for a different q, k and v.
#pragma once

#include "core/attention/projection_layouts.h"
#include "core/trace/trace.h"

namespace headwise {

// The trace in which stages are computed one by one: for an f32 trace rounded from f64, the f64 one (Trace::exact).
TracePtr staged_trace(const Trace& trace);

// The output of multi_head_attention for these q, k and v (N,L,H·D) (N,S,G·D) (N,S,G·Dv), with bias_k, bias_v and the
// zero row appended here; k and v may be null if static_k and static_v are given. `staged` is a staged_trace(), and the
// tensors have its type. Computed by the reference; stages that only read identical bits are shared.
TensorPtr output_behind_projection(const Trace& staged, const ProjectedInputs& projected);

}  // namespace headwise
