#include "core/answers/output_behind_projection.h"

#include "core/answers/traced_inputs.h"
#include "core/reference/reference_backend.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

// If the bits are the same, the existing tensor stays, and everything computed from it.
void put(TensorPtr& slot, const TensorPtr& made) {
  if (made && !identical(*slot, *made)) slot = made;
}

}  // namespace

TracePtr staged_trace(const Trace& asked) {
  const Trace& trace = asked.exact ? *asked.exact : asked;
  if (trace.stages.contains(TensorId::q)) return std::make_shared<const Trace>(trace);
  const TracePtr made = reference_forward(traced_inputs(trace));
  return made->exact ? made->exact : made;
}

TensorPtr output_behind_projection(const Trace& staged, const ProjectedInputs& projected) {
  const AttentionInputs inputs = traced_inputs(staged);
  const AttentionSizes sizes = attention_sizes(inputs);
  const auto with_appended_rows = [&](const TensorPtr& rows, const TensorPtr& bias_row) -> TensorPtr {
    if (!rows || sizes.all_keys == sizes.keys) return rows;
    return std::make_shared<const Tensor>(append_rows(*rows, bias_row.get(), inputs.options.add_zero_attn));
  };
  // A trace that differs only in q, k and v: the reference takes these three from it by their keys, and
  // recomputes whatever reads a changed one.
  Trace previous(staged);
  put(previous.tensors.q, projected.q);
  put(previous.tensors.k, with_appended_rows(projected.k, inputs.tensors.bias_k));
  put(previous.tensors.v, with_appended_rows(projected.v, inputs.tensors.bias_v));
  return reference_forward(inputs, &previous)->tensors.output;
}

}  // namespace headwise
