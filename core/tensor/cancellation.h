// Long work asks now and then whether it is still wanted. Whoever starts it says so for its own thread; where nobody
// does, nothing is ever cancelled.
#pragma once

#include <atomic>

namespace headwise {

// While it lives, check_cancelled() in this thread looks at `cancelled`, which must outlive it.
class CancelScope {
 public:
  // Null: nothing is cancelled while it lives.
  explicit CancelScope(const std::atomic<bool>* cancelled);
  explicit CancelScope(const std::atomic<bool>& cancelled);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  const std::atomic<bool>* outer_;
};

// What check_cancelled() in this thread looks at, for those who work for it in other threads; null: nothing.
const std::atomic<bool>* watched_cancellation();

// Throws Error(cancelled) where the work of this thread is no longer wanted. Cheap enough for every block of a product.
void check_cancelled();

}  // namespace headwise
