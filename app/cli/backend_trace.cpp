#include "app/cli/backend_trace.h"

#include <algorithm>

#include "app/platform/offscreen_context.h"
#include "core/fused/fused_backend.h"
#include "core/gpu/gl_backend.h"
#include "core/reference/reference_backend.h"
#include "core/reference/reference_parts.h"
#include "core/scenario/traced_inputs.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

using Needed = std::optional<std::vector<TensorName>>;

bool needs_any(const Needed& needed, std::initializer_list<TensorId> ids) {
  return std::ranges::any_of(ids, [&](TensorId id) {
    return !needed || std::ranges::find(*needed, TensorName{id}) != needed->end();
  });
}

bool needs_weights(const Needed& needed) {
  return needs_any(needed, {TensorId::attn_weights, TensorId::dropped_weights, TensorId::attn_output_weights});
}

TracePtr reference_trace(const AttentionInputs& inputs, const Needed& needed) {
  return needed ? reference_forward_of(inputs, *needed) : reference_forward(inputs);
}

// The reference's trace with what the fast one has in its place, where the fast one alone is not enough.
TracePtr completed(const TracePtr& fast, const AttentionInputs& inputs, const Needed& needed) {
  if (needed && std::ranges::all_of(*needed, [&](TensorName name) { return fast->tensor(name) != nullptr; }))
    return fast;
  const auto trace = std::make_shared<Trace>(*reference_trace(inputs, needed));
  for (const TensorEntry& entry : tensor_entries()) {
    if (const TensorPtr tensor = fast->tensor(entry.id)) trace->tensors.*(entry.member) = tensor;
  }
  return trace;
}

TracePtr fused_trace(const AttentionInputs& inputs, const Needed& needed, Warnings& warnings) {
  if (const std::string reason = fused_refusal(inputs); !reason.empty()) {
    warnings.add(reason + ": using the reference backend");
    return reference_trace(inputs, needed);
  }
  const bool what_there_is = needed && needed->empty();  // nothing in particular: what comes by itself
  const FusedRun run{
      .keep_attn_weights = needs_weights(needed),
      .keep_projections = what_there_is || needs_any(needed, {TensorId::q, TensorId::k, TensorId::v}),
      .keep_head_output = needs_any(needed, {TensorId::head_output})};
  return completed(fused_forward(inputs, run), inputs, needed);
}

TracePtr gl_trace(const AttentionInputs& inputs, const Needed& needed, Warnings& warnings) {
  std::string reason;
  try {
    const OffscreenContext context(1, 1, OffscreenUse::computing);
    reason = compute_refusal();
    if (reason.empty()) reason = gl_refusal(inputs, gpu_limits());
    if (reason.empty())
      return completed(gl_forward(inputs, {.keep_attn_weights = needs_weights(needed)}), inputs, needed);
  } catch (const Error& error) {  // no context or shaders; a GPU that was reset, or has no room
    if (error.status() != ExitStatus::no_display && error.status() != ExitStatus::memory) throw;
    reason = error.what();
  }
  warnings.add(reason + ": using the fused backend");
  return fused_trace(inputs, needed, warnings);
}

}  // namespace

TracePtr backend_trace(std::string_view backend, const AttentionInputs& inputs, bool backward,
                       const Needed& needed, Warnings& warnings) {
  if (backend == "reference") return backward ? reference_forward(inputs) : reference_trace(inputs, needed);
  if (backward) {
    warnings.add("the " + std::string(backend) + " backend has no backward pass: using the reference backend");
    return reference_forward(inputs);
  }
  return backend == "gl" ? gl_trace(inputs, needed, warnings) : fused_trace(inputs, needed, warnings);
}

Index least_maps_of(std::string_view backend, bool backward, const Needed& needed) {
  const bool whole = !needed || (backend == "reference" && needed->empty());
  return backward || whole ? least_reference_maps : needed_maps(*needed);
}

}  // namespace headwise
