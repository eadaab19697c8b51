#include "app/session/gradients.h"

#include <exception>
#include <new>

#include "core/answers/operation_counts.h"
#include "core/answers/traced_inputs.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/cancellation.h"

namespace headwise {
namespace {

// Of the forward pass. The backward pass of so many takes about 15 ms on one core of 2020: a frame.
constexpr Index multiply_adds_at_once = 12'000'000;

}  // namespace

Gradients::~Gradients() {
  cancelled_ = true;
  if (thread_.joinable()) thread_.join();
}

TracePtr Gradients::of(const ComputationPtr& computation, std::optional<Loss> asked) {
  take_in();
  const Trace& forward = *computation->trace;
  const Loss loss = resolved_loss(asked, forward, computation->inputs.grad_output);
  const auto known = [&] { return known_ && known_->forward == computation->trace && known_->loss == loss; };
  if (!thread_.joinable()) {
    if (!known()) start(computation, loss);
  } else if (known() || running_of_ != &forward || running_loss_ != loss) {
    cancelled_ = true;  // what is wanted now begins when this has noticed
  }
  return known() ? known_->trace : nullptr;
}

void Gradients::start(const ComputationPtr& computation, Loss loss) {
  ++begun_;
  const auto compute_pass = [computation, loss, previous = known_ ? known_->trace : nullptr] {
    Pass pass{computation->trace, loss, nullptr, ""};
    try {
      const Trace& forward = *computation->trace;
      pass.trace = reference_backward(forward, loss_gradient(loss, forward, computation->inputs.grad_output),
                                      previous.get());
    } catch (const std::bad_alloc&) {
      pass.error = "the gradients do not fit in memory: make the text, embed_dim or batch smaller";
    } catch (const std::exception& error) {
      pass.error = error.what();
    }
    return pass;
  };
  if (operation_counts(traced_inputs(*computation->trace)).multiply_adds <= multiply_adds_at_once) {
    known_ = compute_pass();
    return;
  }
  cancelled_ = false;
  running_of_ = computation->trace.get();
  running_loss_ = loss;
  clock_.begin();
  thread_ = std::thread([this, compute_pass] {
    const CancelScope scope(cancelled_);
    const ProgressScope told(clock_.progress());
    Pass pass = compute_pass();
    {
      const std::lock_guard lock(mutex_);
      arrived_ = std::move(pass);
    }
    if (wake_) wake_();
  });
}

void Gradients::take_in() {
  {
    const std::lock_guard lock(mutex_);
    if (!arrived_) return;
  }
  if (thread_.joinable()) thread_.join();
  // A pass that came to its end although it was cancelled is as good as any to share with.
  if (!cancelled_ || arrived_->trace) known_ = std::move(arrived_);
  arrived_.reset();
  running_of_ = nullptr;
}

void Gradients::rest(const TracePtr& trace) {
  take_in();
  if (thread_.joinable()) cancelled_ = true;
  if (known_ && known_->forward != trace) known_.reset();
}

const Trace& Gradients::at_hand(const Trace& trace) const {
  return known_ && known_->trace && known_->forward.get() == &trace ? *known_->trace : trace;
}

void Gradients::finish() {
  if (thread_.joinable()) thread_.join();
  take_in();
}

}  // namespace headwise
