// The rest of the operator: what the output becomes when q, k and v come from somewhere else.
#pragma once

#include "core/attention/projection_layouts.h"
#include "core/trace/trace.h"

namespace headwise {

// The trace in which stages are computed one by one: of an f32 trace that is rounded from f64, that one (Trace::exact).
TracePtr staged_trace(const Trace& trace);

// The output of multi_head_attention behind these q, k and v (N,L,H·D) (N,S,G·D) (N,S,G·Dv), bias_k, bias_v and the zero
// row being appended here; k and v may be null beside static_k and static_v. `staged` is a staged_trace(), and the
// tensors are of its type. Computed by the reference; stages that read only what has the same bits are shared.
TensorPtr output_behind_projection(const Trace& staged, const ProjectedInputs& projected);

}  // namespace headwise
