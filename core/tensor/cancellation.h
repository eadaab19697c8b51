// Long-running work checks now and then whether it has been cancelled. The caller sets this up for its own
// thread; without that, nothing is ever cancelled.
#pragma once

#include <atomic>

namespace headwise {

// During its lifetime, check_cancelled() in this thread looks at `cancelled`, which must outlive it.
class CancelScope {
 public:
  // Null: nothing is cancelled during its lifetime.
  explicit CancelScope(const std::atomic<bool>* cancelled);
  explicit CancelScope(const std::atomic<bool>& cancelled);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  const std::atomic<bool>* outer_;
};

// The flag that check_cancelled() looks at in this thread, for worker threads acting on its behalf;
// null: none.
const std::atomic<bool>* watched_cancellation();

// Throws Error(cancelled) if the work of this thread has been cancelled.
// Cheap enough for every block of a product.
void check_cancelled();

}  // namespace headwise
