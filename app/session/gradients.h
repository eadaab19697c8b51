// The backward pass of the current trace, computed when first requested: a small one at once, a large one in
// a thread of its own. What an edit leaves unchanged is shared with the previous pass.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/session/async_query.h"
#include "app/session/computation.h"
#include "core/attention/trace.h"
#include "core/lessons/stage_view.h"

namespace headwise {

class Gradients {
 public:
  // `wake` is called from another thread when a pass is available; it may be empty.
  explicit Gradients(std::function<void()> wake = {});

  // The computation's trace with its gradients. Null while they are computed, which starts here and never
  // waits; or if they cannot be computed, and then error() says why.
  TracePtr of(const ComputationPtr& computation, std::optional<Loss> loss);
  // None are needed: cancels the work under way and releases a pass of any trace but this one.
  void suspend(const TracePtr& trace);
  // This trace with its gradients if known, else the trace itself.
  TracePtr cached(const TracePtr& trace) const;
  // Why the trace requested last has none: they would not fit in memory. Empty if it has them,
  // or may still get them.
  std::string error() const { return work_.known() ? work_.known()->error : ""; }
  // How many passes have been started.
  int begun() const { return work_.begun(); }
  // Progress of the work under way, if any.
  Waiting waiting() const { return work_.waiting(); }
  // Waits for the work under way (tests, and pictures of the window).
  void finish() { work_.finish(); }

 private:
  struct Question {
    ComputationPtr computation;
    Loss loss{};
    friend bool operator==(const Question& a, const Question& b) {
      return a.computation->trace == b.computation->trace && a.loss == b.loss;
    }
  };
  using Work = AsyncQuery<Question, TracePtr>;
  static TracePtr compute_pass(const Question& question, const Work::AnswerPtr& before);
  static bool is_short(const Question& question);

  Work work_;
};

// The loss that the window's gradients are taken of: a weighted sum of the last output. Chosen where
// gradients are shown; it changes no number of the forward pass, so it is not part of a Scenario.

// The requested one if available; else the default: the inputs' own grad_output, else Σ output. After a layer
// norm, whose rows have mean 0 whatever the input, Σ output has no gradient but rounding errors: there the
// default is the random signs. `given`: the inputs' grad_output, or null.
Loss resolved_loss(std::optional<Loss> asked, const Trace& trace, const TensorPtr& given);

// d(loss)/d(last output), with its shape and type. `loss` must be resolved.
TensorPtr loss_gradient(Loss loss, const Trace& trace, const TensorPtr& given);

// "loss = Σ output", "loss = layer_norm_output[0,0,0]"
std::string loss_text(Loss loss, const Trace& trace);

}  // namespace headwise
