#include "core/reference/reference_backend.h"

#include "core/reference/multi_head_attention.h"
#include "core/reference/prepared_inputs.h"
#include "core/reference/rounded_trace.h"
#include "core/tensor/memory.h"
#include "core/trace/check_attention_inputs.h"
#include "core/trace/trace_warnings.h"

namespace headwise {

TracePtr reference_forward(const AttentionInputs& inputs, const Trace* previous) {
  check_attention_inputs(inputs);
  if (inputs.dtype == DType::f32) {
    if (TracePtr trace = rounded_forward(inputs, previous)) return trace;
  }
  const AttentionSizes sizes = attention_sizes(inputs);
  // If there is a previous trace of the same sizes, most tensors are shared: then each new one checks its own memory.
  const bool mostly_shared = previous && previous->dtype == inputs.dtype && previous->tensors.scores &&
                             previous->tensors.scores->shape() == sizes.scores_shape();
  if (!mostly_shared) require_memory(reference_trace_bytes(inputs), "the trace");

  const auto trace = std::make_shared<Trace>();
  trace->options = resolved_options(inputs);
  trace->dtype = inputs.dtype;
  trace->tensors = inputs.tensors;
  TraceTensors& t = trace->tensors;
  StageCache cache(*trace, previous);
  ForwardPass pass{t, trace->options, sizes, trace->dtype, cache};
  prepare_inputs(t, inputs, previous);
  if (inputs.options.op == Op::multi_head_attention) {
    multi_head_attention(pass);
  } else {
    scaled_dot_product_attention(pass);
    t.output = t.head_output;
  }
  trace->warnings = trace_warnings(*trace);
  return trace;
}

}  // namespace headwise
