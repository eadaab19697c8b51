#include "core/backend/backend_trace.h"

#include <algorithm>

#include "core/reference/reference_backend.h"
#include "core/reference/reference_parts.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {
namespace {

// The reference's trace, with the fast backend's tensors where it has them, if those alone are not enough.
TracePtr completed(const TracePtr& fast, const AttentionInputs& inputs, const NeededTensors& needed) {
  if (needed && std::ranges::all_of(*needed, [&](TensorName name) { return fast->tensor(name) != nullptr; }))
    return fast;
  const TracePtr whole = needed ? reference_forward_of(inputs, *needed) : reference_forward(inputs);
  const auto trace = std::make_shared<Trace>(*whole);
  for (const TensorEntry& entry : tensor_entries()) {
    if (const TensorPtr tensor = fast->tensor(entry.id)) trace->tensors.*(entry.member) = tensor;
  }
  return trace;
}

}  // namespace

TracePtr backend_trace(const Backend& backend, const AttentionInputs& inputs, bool backward,
                       const NeededTensors& needed, const MakeContext& context,
                       const std::function<void(const std::string&)>& warn) {
  if (backward && backend.id != BackendId::reference)
    warn("the " + std::string(backend.name) + " backend has no backward pass: using the reference backend");
  if (backward) return reference_forward(inputs);
  TracePtr trace;
  compute_with_fallback(
      backend.id, inputs, context,
      [&](const Backend& used) {
        const auto pass = used.start(inputs, {.needed = needed});
        pass->compute();
        trace = used.keeps_every_tensor ? pass->trace() : completed(pass->trace(), inputs, needed);
      },
      [&](const std::string& reason, const Backend& next) {
        warn(reason + ": using the " + std::string(next.name) + " backend");
      });
  return trace;
}

Index least_maps_of(const Backend& backend, bool backward, const NeededTensors& needed) {
  const bool whole = !needed || (backend.keeps_every_tensor && needed->empty());
  return backward || whole ? least_reference_maps : needed_maps(*needed);
}

}  // namespace headwise
