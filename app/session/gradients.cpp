#include "app/session/gradients.h"

#include <fmt/format.h>

#include <utility>

#include "core/attention/grad_output.h"
#include "core/attention/reference_backend.h"
#include "core/lessons/operation_counts.h"
#include "core/lessons/traced_inputs.h"
#include "core/tensor/random.h"

namespace headwise {
namespace {

// For the forward pass. The backward pass of this many takes about 15 ms on one core of 2020: a frame.
constexpr Index differentiated_at_once = 12'000'000;

constexpr const char* no_memory =
    "the gradients do not fit in memory: make the text, embed_dim or batch smaller";

}  // namespace

Gradients::Gradients(std::function<void()> wake)
    : work_(compute_pass, std::move(wake), is_short, no_memory) {}

TracePtr Gradients::compute_pass(const Question& question, const Work::AnswerPtr& before) {
  const Trace& forward = *question.computation->trace;
  return reference_backward(forward,
                            loss_gradient(question.loss, forward, question.computation->inputs.grad_output),
                            before ? before->get() : nullptr);
}

bool Gradients::is_short(const Question& question) {
  return operation_counts(traced_inputs(*question.computation->trace)).multiply_adds <= differentiated_at_once;
}

TracePtr Gradients::of(const ComputationPtr& computation, std::optional<Loss> asked) {
  const Loss loss = resolved_loss(asked, *computation->trace, computation->inputs.grad_output);
  const auto outcome = work_.of({computation, loss});
  return outcome && outcome->answer ? *outcome->answer : nullptr;
}

void Gradients::suspend(const TracePtr& trace) {
  work_.suspend();
  if (work_.known() && work_.known()->question.computation->trace != trace) work_.forget();
}

TracePtr Gradients::cached(const TracePtr& trace) const {
  const auto& known = work_.known();
  const bool is_its = known && known->answer && known->question.computation->trace == trace;
  return is_its ? *known->answer : trace;
}

Loss resolved_loss(std::optional<Loss> asked, const Trace& trace, const TensorPtr& given) {
  if (asked && (*asked != Loss::given || given)) return *asked;
  if (given) return Loss::given;
  return trace.tensors.layer_norm_output ? Loss::random : Loss::sum;
}

TensorPtr loss_gradient(Loss loss, const Trace& trace, const TensorPtr& given) {
  if (loss == Loss::given) return given;
  Tensor weights(trace.tensor(last_output(trace.tensors))->shape(), trace.dtype);
  const CounterRandom signs(0, "loss");
  for (Index i = 0; i < weights.size(); ++i) {
    double weight = 1.0;
    if (loss == Loss::first_cell) weight = i == 0 ? 1.0 : 0.0;
    if (loss == Loss::random) weight = signs.uniform(static_cast<std::uint64_t>(i)) < 0.5 ? -1.0 : 1.0;
    weights.set_flat(i, weight);
  }
  return std::make_shared<const Tensor>(std::move(weights));
}

std::string loss_text(Loss loss, const Trace& trace) {
  const TensorId last = last_output(trace.tensors);
  const std::string name(tensor_entry(last).name);
  switch (loss) {
    case Loss::sum:
      return fmt::format("loss = Σ {}{}", name,
                         last == TensorId::layer_norm_output ? ", 0 except for rounding" : "");
    case Loss::first_cell:
      return fmt::format("loss = {}[{}]", name, trace.tensor(last)->shape().rank() == 4 ? "0,0,0,0" : "0,0,0");
    case Loss::random:
      return fmt::format("loss = Σ ± {}, with fixed random signs", name);
    case Loss::given:
      return fmt::format("loss = Σ grad_output · {}", name);
  }
  return "";
}

}  // namespace headwise
