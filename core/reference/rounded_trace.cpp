#include "core/reference/rounded_trace.h"

#include <atomic>
#include <map>

#include "core/reference/reference_backend.h"
#include "core/tensor/double_kernels.h"
#include "core/tensor/memory.h"
#include "core/tensor/task_threads.h"
#include "core/trace/grad_output.h"

namespace headwise {
namespace {

// Maps a tensor of one width to the other. Shared tensors stay shared.
using Twins = std::map<TensorPtr, TensorPtr>;

// Pairs the tensors of an f32 trace with those of its twin, member by member.
void add_twins(Twins& twins, const TraceTensors& from, const TraceTensors& to) {
  for (const TensorEntry& entry : tensor_entries()) {
    if (from.*(entry.member) && to.*(entry.member)) twins.emplace(from.*(entry.member), to.*(entry.member));
  }
}

// nullopt if a finite number becomes infinite.
std::optional<Tensor> rounded(const Tensor& exact) {
  Tensor narrow = Tensor::unwritten(exact.shape(), DType::f32);
  const double* const from = exact.values<double>().data();
  float* const to = narrow.values<float>().data();
  const DoubleKernels& kernels = chosen_double_kernels();
  std::atomic<bool> overflows = false;
  for_ranges(exact.size(), 1.0, [&](Index first, Index last) {
    if (!kernels.narrow(from + first, last - first, to + first)) overflows = true;
  });
  if (overflows) return std::nullopt;
  return narrow;
}

// Masks keep their type: merging reads any.
AttentionInputs widened(const AttentionInputs& inputs, const Trace* previous) {
  Twins wide_of;
  if (previous) add_twins(wide_of, previous->tensors, previous->exact->tensors);
  AttentionInputs wide = inputs;
  wide.dtype = DType::f64;
  for (const TensorEntry& entry : tensor_entries()) {
    TensorPtr& tensor = wide.tensors.*(entry.member);
    if (!tensor || tensor->dtype() != DType::f32 || entry.role == TensorRole::mask) continue;
    TensorPtr& twin = wide_of[tensor];
    if (!twin) twin = std::make_shared<const Tensor>(tensor->converted(DType::f64));
    tensor = twin;
  }
  return wide;
}

// The exact tensors in f32, reusing those in `narrow_of`; nullopt if one overflows.
std::optional<TraceTensors> rounded(const TraceTensors& exact, Twins narrow_of) {
  TraceTensors narrow = exact;
  for (const TensorEntry& entry : tensor_entries()) {
    TensorPtr& tensor = narrow.*(entry.member);
    if (!tensor || tensor->dtype() != DType::f64) continue;
    TensorPtr& twin = narrow_of[tensor];
    if (!twin) {
      std::optional<Tensor> made = rounded(*tensor);
      if (!made) return std::nullopt;
      twin = std::make_shared<const Tensor>(*std::move(made));
    }
    tensor = twin;
  }
  return narrow;
}

}  // namespace

TracePtr rounded_forward(const AttentionInputs& inputs, const Trace* previous, Index twin_bytes_limit) {
  const Index bytes = reference_trace_bytes(inputs);
  if (bytes > twin_bytes_limit / 2 || (bytes > (Index{1} << 20) && 4 * bytes > available_memory())) {
    return nullptr;
  }
  if (previous && !previous->exact) previous = nullptr;
  const AttentionInputs wide = widened(inputs, previous);
  const TracePtr exact = reference_forward(wide, previous ? previous->exact.get() : nullptr);

  Twins narrow_of;
  add_twins(narrow_of, wide.tensors, inputs.tensors);
  if (previous) add_twins(narrow_of, previous->exact->tensors, previous->tensors);
  std::optional<TraceTensors> tensors = rounded(exact->tensors, std::move(narrow_of));
  if (!tensors) return nullptr;

  const auto trace = std::make_shared<Trace>();
  trace->options = exact->options;
  trace->dtype = DType::f32;
  trace->tensors = *std::move(tensors);
  trace->stages = exact->stages;  // the list of stages; their keys name the tensors of the twin
  trace->computed = exact->computed;
  trace->exact = exact;
  trace->warnings = exact->warnings;  // the same numbers are not finite, the same rows fully masked
  return trace;
}

TracePtr rounded_backward(const Trace& forward, const TensorPtr& grad_output, const Trace* previous) {
  if (!forward.exact) return nullptr;
  if (previous && !previous->exact) previous = nullptr;
  const auto wide = std::make_shared<const Tensor>(grad_output->converted(DType::f64));
  const TracePtr exact = reference_backward(*forward.exact, wide, previous ? previous->exact.get() : nullptr);

  Twins narrow_of{{exact->tensor({last_output(exact->tensors), true}), grad_output}};
  if (previous) add_twins(narrow_of, previous->exact->grad, previous->grad);
  std::optional<TraceTensors> gradients = rounded(exact->grad, std::move(narrow_of));
  if (!gradients) return nullptr;

  const auto trace = std::make_shared<Trace>(forward);
  trace->grad = *std::move(gradients);
  trace->gradient_stages = exact->gradient_stages;
  trace->computed_gradients = exact->computed_gradients;
  trace->exact = exact;
  return trace;
}

}  // namespace headwise
