// The backward pass of the trace that is looked at, computed when it is first asked for: a small one at once, a large one in
// a thread of its own. What an edit leaves is shared with the pass before.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/session/asked_work.h"
#include "app/session/computation.h"
#include "app/session/loss.h"

namespace headwise {

class Gradients {
 public:
  // `wake` is called from another thread when a pass can be taken; it may be empty.
  explicit Gradients(std::function<void()> wake = {});

  // The computation's trace with its gradients. Null while they are computed, which begins here and never waits; or
  // where they cannot be, then error() says why.
  TracePtr of(const ComputationPtr& computation, std::optional<Loss> loss);
  // Nobody wants any: what is under way is cancelled, and a pass of another trace than this is let go.
  void rest(const TracePtr& trace);
  // Of this trace, where that is known already; else the trace itself.
  const Trace& at_hand(const Trace& trace) const;
  // Why the trace that was asked for last has none: they would not fit in memory. Empty where it has, or may get them.
  std::string error() const { return work_.known() ? work_.known()->error : ""; }
  // How many passes have been begun.
  int begun() const { return work_.begun(); }
  // How far what is under way has come, where something is.
  Waiting waiting() const { return work_.waiting(); }
  // Waits for what is under way (tests, and pictures of the window).
  void finish() { work_.finish(); }

 private:
  struct Question {
    ComputationPtr computation;
    Loss loss{};
    friend bool operator==(const Question& a, const Question& b) {
      return a.computation->trace == b.computation->trace && a.loss == b.loss;
    }
  };
  using Work = AskedWork<Question, TracePtr>;
  static TracePtr compute_pass(const Question& question, const Work::AnswerPtr& before);
  static bool is_short(const Question& question);

  Work work_;
};

}  // namespace headwise
