// Which thread does which attention tasks, if each head's keys are put into panels first.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

// Heads are distributed over threads; each prepares its heads and does their tasks, and a thread that is done
// helps with the remaining ones. So what is written for a head is read by the core that wrote it, and
// rewritten there in the next run: cache lines held by another core must be taken from it first, one after
// the other, which took more than four times as long as writing them.
class HeadShares {
 public:
  HeadShares(Index heads, Index tasks_of_head, int threads);

  // The next task for a thread, 0 ≤ worker < threads, of a head that is ready: head·tasks_of_head + i. To be
  // called once per task. `make_ready` is called once for each head, before its first task is returned.
  // Rethrows its exceptions, after which it returns −1 to the other threads; and Error(cancelled).
  Index next(int worker, const std::function<void(Index head)>& make_ready);

 private:
  enum class State { fresh, under_way, ready, failed };
  struct Head {
    std::atomic<State> state{State::fresh};
    std::atomic<Index> next{0};
  };
  // Its current state, after preparing it if nobody had started to.
  State state_of(Head& head, Index index, const std::function<void(Index head)>& make_ready);

  std::vector<Head> heads_;
  Index tasks_, threads_;
};

}  // namespace headwise
