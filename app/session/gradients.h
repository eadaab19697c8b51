// The backward pass of the trace that is looked at, computed when it is first asked for: a small one at once, a large one in
// a thread of its own. What an edit leaves is shared with the pass before.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/session/computation.h"
#include "app/session/loss.h"
#include "app/session/waiting.h"

namespace headwise {

class Gradients {
 public:
  // `wake` is called from another thread when a pass can be taken; it may be empty.
  explicit Gradients(std::function<void()> wake = {}) : wake_(std::move(wake)) {}
  // Cancels what is under way and waits until it has noticed.
  ~Gradients();
  Gradients(const Gradients&) = delete;
  Gradients& operator=(const Gradients&) = delete;

  // The computation's trace with its gradients. Null while they are computed, which begins here and never waits; or
  // where they cannot be, then error() says why.
  TracePtr of(const ComputationPtr& computation, std::optional<Loss> loss);
  // Nobody wants any: what is under way is cancelled, and a pass of another trace than this is let go.
  void rest(const TracePtr& trace);
  // Of this trace, where that is known already; else the trace itself.
  const Trace& at_hand(const Trace& trace) const;
  // Why the trace that was asked for last has none: they would not fit in memory. Empty where it has, or may get them.
  std::string error() const { return known_ ? known_->error : ""; }
  // How many passes have been begun.
  int begun() const { return begun_; }
  // How far what is under way has come, where something is.
  Waiting waiting() const { return thread_.joinable() ? clock_.waiting() : Waiting{}; }
  // Waits for what is under way (tests, and pictures of the window).
  void finish();

 private:
  struct Pass {
    TracePtr forward;
    Loss loss{};
    TracePtr trace;     // null: it failed
    std::string error;  // why
  };
  void start(const ComputationPtr& computation, Loss loss);
  void take_in();

  std::function<void()> wake_;
  std::optional<Pass> known_;
  const Trace* running_of_ = nullptr;  // the forward trace of what is under way; the thread keeps it alive
  Loss running_loss_{};
  std::mutex mutex_;
  std::optional<Pass> arrived_;  // written by the thread
  std::atomic<bool> cancelled_ = false;
  WaitingClock clock_;
  std::thread thread_;
  int begun_ = 0;
};

}  // namespace headwise
