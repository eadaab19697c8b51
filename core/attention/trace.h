// Everything that one run of the operator produced: a named tensor per intermediate.
// Const once created, shared between views.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/attention/tensor_names.h"

namespace headwise {

// The choices and tensors that a stage read; equal keys mean an equal result, which is then shared instead of
// computed. The pointers are compared as addresses; the trace that holds the key keeps them alive.
struct StageKey {
  std::vector<double> choices;
  std::vector<TensorPtr> sources;
  friend bool operator==(const StageKey&, const StageKey&) = default;
};

struct Trace {
  AttentionOptions options;
  DType dtype = DType::f32;
  TraceTensors tensors;
  TraceTensors grad;                  // all null before a backward pass
  std::vector<std::string> warnings;  // fully masked rows, non-finite inputs, by index
  std::map<TensorId, StageKey> stages;
  std::vector<TensorId> computed;  // the stages that were computed for this trace; the others were shared
  std::map<TensorId, StageKey> gradient_stages;  // the same for the backward pass
  std::vector<TensorId> computed_gradients;
  // The f64 trace that this f32 one is rounded from (rounded_trace.h);
  // null if each stage was rounded separately.
  std::shared_ptr<const Trace> exact;

  TensorPtr tensor(TensorName name) const {
    return (name.gradient ? grad : tensors).*(tensor_entry(name.id).member);
  }
  TensorPtr tensor(TensorId id) const { return tensor(TensorName{id}); }
};

using TracePtr = std::shared_ptr<const Trace>;

// The inputs that a backend turns into a Trace: resolved options (nothing left to derive), and the inputs,
// parameters, masks and gains. `check_attention_inputs` says what must agree.
struct AttentionInputs {
  AttentionOptions options;
  DType dtype = DType::f32;
  TraceTensors tensors;  // members with role input, parameter and mask; the rest null
};

}  // namespace headwise
