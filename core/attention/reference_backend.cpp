#include "core/attention/reference_backend.h"

#include <atomic>
#include <map>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/attention/check_attention_inputs.h"
#include "core/attention/grad_output.h"
#include "core/attention/matrix_kernels.h"
#include "core/attention/multi_head_attention.h"
#include "core/attention/softmax.h"
#include "core/attention/trace_warnings.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"
#include "core/tensor/task_threads.h"

namespace headwise {

TracePtr reference_forward(const AttentionInputs& inputs, const Trace* previous) {
  check_attention_inputs(inputs);
  return forward_of_checked(inputs, previous);
}

TracePtr forward_of_checked(const AttentionInputs& inputs, const Trace* previous) {
  if (inputs.dtype == DType::f32) {
    if (TracePtr trace = rounded_forward(inputs, previous)) return trace;
  }
  const AttentionSizes sizes = attention_sizes(inputs);
  // If there is a previous trace of the same sizes, most tensors are shared:
  // then each new one checks its own memory.
  const bool mostly_shared = previous && previous->dtype == inputs.dtype && previous->tensors.scores &&
                             previous->tensors.scores->shape() == sizes.scores_shape();
  if (!mostly_shared) require_memory(reference_trace_bytes(inputs), "the trace");

  const auto trace = begun_trace(inputs);
  add_numbers_of_heads(*trace, previous);
  StageCache cache(*trace, previous);
  ForwardPass pass{trace->tensors, trace->options, sizes, trace->dtype, cache};
  attention(pass);
  trace->warnings = trace_warnings(*trace);
  return trace;
}

void add_numbers_of_heads(Trace& trace, const Trace* previous) {
  const auto add = [&](TensorPtr TraceTensors::*member, const std::vector<double>& numbers) {
    TensorPtr& tensor = trace.tensors.*member;
    if (tensor || numbers.empty()) return;
    tensor = std::make_shared<const Tensor>(
        Tensor(Shape{{"H", static_cast<Index>(numbers.size())}}, numbers).converted(trace.dtype));
    const TensorPtr earlier = previous ? previous->tensors.*member : nullptr;
    if (earlier && identical(*earlier, *tensor)) tensor = earlier;
  };
  add(&TraceTensors::head_gain, trace.options.head_gain);
  if (!trace.tensors.sinks)
    add(&TraceTensors::sinks, sinks_of_heads(trace.options, trace.tensors, trace.options.num_heads));
}

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
  const MatrixKernels& kernels = matrix_kernels();
  std::atomic<bool> overflows = false;
  for_ranges(exact.size(), 1.0, [&](Index first, Index last) {
    if (!kernels.narrow(from + first, last - first, to + first)) overflows = true;
  });
  if (overflows) return std::nullopt;
  return narrow;
}

// Masks keep their type: merging reads any.
TraceTensors widened(TraceTensors tensors, Twins wide_of) {
  for (const TensorEntry& entry : tensor_entries()) {
    TensorPtr& tensor = tensors.*(entry.member);
    if (!tensor || tensor->dtype() != DType::f32 || entry.role == TensorRole::mask) continue;
    TensorPtr& twin = wide_of[tensor];
    if (!twin) twin = std::make_shared<const Tensor>(tensor->converted(DType::f64));
    tensor = twin;
  }
  return tensors;
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

TraceTensors widened(const TraceTensors& tensors) {
  return widened(tensors, {});
}

TracePtr rounded_forward(const AttentionInputs& inputs, const Trace* previous, Index twin_bytes_limit) {
  const Index bytes = reference_trace_bytes(inputs);
  if (bytes > twin_bytes_limit / 2 || (bytes > (Index{1} << 20) && 4 * bytes > available_memory())) {
    return nullptr;
  }
  if (previous && !previous->exact) previous = nullptr;
  Twins wide_of;
  if (previous) add_twins(wide_of, previous->tensors, previous->exact->tensors);
  const AttentionInputs wide{inputs.options, DType::f64, widened(inputs.tensors, std::move(wide_of))};
  const TracePtr exact = forward_of_checked(wide, previous ? previous->exact.get() : nullptr);

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

namespace {

// The tensors that a pass creates, without their values.
class Outlines final : public Stages {
 public:
  explicit Outlines(const AttentionInputs& inputs)
      : trace_(begun_trace(inputs)), sizes_(attention_sizes(inputs)) {
    add_numbers_of_heads(*trace_, nullptr);
    ForwardPass pass{trace_->tensors, trace_->options, sizes_, trace_->dtype, *this};
    attention(pass);
  }
  std::vector<Shape> shapes;

 private:
  void take(Stage stage) override {
    shapes.push_back(computed_shape(stage.id, trace_->options, sizes_));
    name(stage.id, nullptr, std::make_shared<const Tensor>(Tensor::outline(shapes.back(), trace_->dtype)));
  }
  void name(TensorId id, const TensorPtr&, const TensorPtr& tensor) override {
    trace_->tensors.*(tensor_entry(id).member) = tensor;
  }

  const std::shared_ptr<Trace> trace_;
  const AttentionSizes sizes_;
};

}  // namespace

Index reference_trace_bytes(const AttentionInputs& inputs) {
  Index bytes = 0;
  for (const Shape& shape : Outlines(inputs).shapes) {
    const Index more =
        checked_multiply(shape.element_count(), static_cast<Index>(dtype_bytes(inputs.dtype)), "the trace");
    if (__builtin_add_overflow(bytes, more, &bytes)) {
      throw Error(ExitStatus::memory, {"the trace", "the number of bytes is out of range", shape.to_string(),
                                       "", "choose smaller sizes"});
    }
  }
  return bytes;
}

}  // namespace headwise
