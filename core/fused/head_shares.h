// Which thread does which tasks of attention, where each head's keys are put into panels first.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

// Heads are dealt out to threads, each of which makes its heads ready and does their tasks; who is done with his own helps with
// those that are left. So what is written for a head is read by the processor that wrote it, and in the next run written there again:
// lines that another processor holds have to be taken from it first, one after the other, which cost more than four times as
// much as writing them.
class HeadShares {
 public:
  HeadShares(Index heads, Index tasks_of_head, int threads);

  // The next task for a thread, 0 ≤ worker < threads, of a head that is ready: head·tasks_of_head + i. To be asked for as often as
  // there are tasks. `make_ready` is called once for each head, before the first of its tasks is given. Throws what it throws, and then
  // gives −1 to the other threads; and Error(cancelled).
  Index next(int worker, const std::function<void(Index head)>& make_ready);

 private:
  enum class State { fresh, under_way, ready, failed };
  struct Head {
    std::atomic<State> state{State::fresh};
    std::atomic<Index> next{0};
  };
  // What it is now, after it was made ready if nobody had begun.
  State state_of(Head& head, Index index, const std::function<void(Index head)>& make_ready);

  std::vector<Head> heads_;
  Index tasks_, threads_;
};

}  // namespace headwise
