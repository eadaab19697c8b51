#include "app/session/unmuted_output.h"

#include <algorithm>

#include "core/answers/traced_inputs.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/error.h"

namespace headwise {

std::optional<TensorChange> UnmutedOutput::change(const Trace& trace) {
  const TraceTensors& t = trace.tensors;
  if (!t.head_gain || !t.output || !t.concat) return std::nullopt;
  bool plain = true;
  for (Index head = 0; head < t.head_gain->size(); ++head) plain = plain && t.head_gain->flat(head) == 1.0;
  if (plain) return std::nullopt;
  if (!output_ || head_output_ != t.head_output || weight_ != t.out_proj_weight || bias_ != t.out_proj_bias) {
    AttentionInputs inputs = traced_inputs(trace);
    inputs.tensors.head_gain = nullptr;
    inputs.options.head_gain.clear();
    output_ = reference_forward(inputs, &trace)->tensors.output;
    head_output_ = t.head_output;
    weight_ = t.out_proj_weight;
    bias_ = t.out_proj_bias;
    changed_to_.reset();
    ++computed_;
  }
  if (changed_to_ != t.output) {
    change_ = tensor_change(output_, t.output);
    changed_to_ = t.output;
  }
  return change_;
}

}  // namespace headwise
