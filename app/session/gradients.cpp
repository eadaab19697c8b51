#include "app/session/gradients.h"

#include <utility>

#include "core/answers/operation_counts.h"
#include "core/answers/traced_inputs.h"
#include "core/reference/reference_backend.h"

namespace headwise {
namespace {

// For the forward pass. The backward pass of this many takes about 15 ms on one core of 2020: a frame.
constexpr Index multiply_adds_at_once = 12'000'000;

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
  return operation_counts(traced_inputs(*question.computation->trace)).multiply_adds <= multiply_adds_at_once;
}

TracePtr Gradients::of(const ComputationPtr& computation, std::optional<Loss> asked) {
  const Loss loss = resolved_loss(asked, *computation->trace, computation->inputs.grad_output);
  const auto outcome = work_.of({computation, loss});
  return outcome && outcome->answer ? *outcome->answer : nullptr;
}

void Gradients::rest(const TracePtr& trace) {
  work_.rest();
  if (work_.known() && work_.known()->question.computation->trace != trace) work_.forget();
}

TracePtr Gradients::at_hand(const TracePtr& trace) const {
  const auto& known = work_.known();
  const bool is_its = known && known->answer && known->question.computation->trace == trace;
  return is_its ? *known->answer : trace;
}

}  // namespace headwise
