#include "core/lessons/traced_inputs.h"

#include "core/attention/trace_warnings.h"
#include "core/compare/trace_compare.h"

namespace headwise {

AttentionInputs traced_inputs(const Trace& trace) {
  AttentionInputs inputs;
  inputs.options = trace.options;
  inputs.dtype = trace.dtype;
  for (const TensorEntry& entry : tensor_entries())
    if (is_given(trace, {entry.id})) inputs.tensors.*(entry.member) = trace.tensors.*(entry.member);
  if (trace.options.op == Op::scaled_dot_product_attention) {
    inputs.tensors.query = trace.tensors.q_heads;
    inputs.tensors.key = trace.tensors.k_heads;
    inputs.tensors.value = trace.tensors.v_heads;
    inputs.tensors.q_heads = inputs.tensors.k_heads = inputs.tensors.v_heads = nullptr;
  }
  return inputs;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  return compare_tensors({TensorId::output}, a, b, 0.0).largest_absolute;
}

}  // namespace headwise
