#include "app/cli/backend_trace.h"

#include <algorithm>

#include "app/cli/standard_streams.h"
#include "app/platform/offscreen_context.h"
#include "core/fused/fused_backend.h"
#include "core/gpu/gl_backend.h"
#include "core/tensor/error.h"
#include "core/trace/reference_backend.h"

namespace headwise {
namespace {

using Needed = std::optional<std::vector<TensorName>>;

bool needs_weights(const Needed& needed) {
  const auto is_needed = [&](TensorId id) {
    return !needed || std::ranges::find(*needed, TensorName{id}) != needed->end();
  };
  return is_needed(TensorId::attn_weights) || is_needed(TensorId::dropped_weights) ||
         is_needed(TensorId::attn_output_weights);
}

// The reference's trace with what the fast one has in its place, where the fast one alone is not enough.
TracePtr completed(const TracePtr& fast, const AttentionInputs& inputs, const Needed& needed) {
  if (needed && std::ranges::all_of(*needed, [&](TensorName name) { return fast->tensor(name) != nullptr; }))
    return fast;
  const auto trace = std::make_shared<Trace>(*reference_forward(inputs));
  for (const TensorEntry& entry : tensor_entries()) {
    if (const TensorPtr tensor = fast->tensor(entry.id)) trace->tensors.*(entry.member) = tensor;
  }
  return trace;
}

TracePtr fused_trace(const AttentionInputs& inputs, const Needed& needed) {
  if (const std::string reason = fused_refusal(inputs); !reason.empty()) {
    print_warning(reason + ": the reference computes this");
    return reference_forward(inputs);
  }
  return completed(fused_forward(inputs, {.keep_attn_weights = needs_weights(needed)}), inputs, needed);
}

TracePtr gl_trace(const AttentionInputs& inputs, const Needed& needed) {
  std::string reason;
  try {
    const OffscreenContext context(16, 16);
    reason = compute_refusal();
    if (reason.empty()) reason = gl_refusal(inputs, gpu_limits());
    if (reason.empty())
      return completed(gl_forward(inputs, {.keep_attn_weights = needs_weights(needed)}), inputs, needed);
  } catch (const Error& error) {  // no context, a shader that the driver does not take, a GPU that was reset
    if (error.status() != ExitStatus::no_display) throw;
    reason = error.what();
  }
  print_warning(reason + ": the fused backend computes this");
  return fused_trace(inputs, needed);
}

}  // namespace

TracePtr backend_trace(std::string_view backend, const AttentionInputs& inputs, bool backward,
                       const Needed& needed) {
  if (backend == "reference") return reference_forward(inputs);
  if (backward) {
    print_warning("the " + std::string(backend) +
                  " backend has no backward pass: the reference computes this");
    return reference_forward(inputs);
  }
  return backend == "gl" ? gl_trace(inputs, needed) : fused_trace(inputs, needed);
}

}  // namespace headwise
