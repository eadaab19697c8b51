#include "core/fused/head_shares.h"

#include <thread>

#include "core/tensor/cancellation.h"

namespace headwise {

HeadShares::HeadShares(Index heads, Index tasks_of_head, int threads)
    : heads_(static_cast<std::size_t>(heads)), tasks_(tasks_of_head), threads_(threads) {}

HeadShares::State HeadShares::state_of(Head& head, Index index,
                                       const std::function<void(Index head)>& make_ready) {
  State state = head.state.load(std::memory_order_acquire);
  if (state != State::fresh ||
      !head.state.compare_exchange_strong(state, State::under_way, std::memory_order_acquire))
    return state;
  try {
    make_ready(index);
  } catch (...) {
    head.state.store(State::failed, std::memory_order_release);
    throw;
  }
  head.state.store(State::ready, std::memory_order_release);
  return State::ready;
}

Index HeadShares::next(int worker, const std::function<void(Index head)>& make_ready) {
  const auto count = static_cast<Index>(heads_.size());
  const Index own = worker * count / threads_;
  while (true) {
    check_cancelled();
    for (Index i = 0; i < count; ++i) {
      const Index index = (own + i) % count;
      Head& head = heads_[static_cast<std::size_t>(index)];
      if (head.next.load(std::memory_order_relaxed) >= tasks_) continue;
      const State state = state_of(head, index, make_ready);
      if (state == State::failed) return -1;
      if (state != State::ready) continue;
      const Index task = head.next.fetch_add(1, std::memory_order_relaxed);
      if (task < tasks_) return index * tasks_ + task;
    }
    std::this_thread::yield();  // the rest waits for a head that another thread is preparing
  }
}

}  // namespace headwise
