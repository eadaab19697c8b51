// Tasks on a few threads that wait between calls. Which thread does which task is open; a task must not depend on it.
#pragma once

#include <functional>
#include <span>

#include "core/tensor/shape.h"

namespace headwise {

// How many threads there are to be had: those that this process may run on, or fewer where a ThreadLimit says so.
int available_threads();

// While it lives, available_threads() in this thread is `threads` (≥ 1), more than there are too.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int outer_;
};

// Tasks [0, count) that can be done in any order and at once: body(task, worker).
struct TaskPhase {
  Index count = 0;
  std::function<void(Index task, int worker)> body;
  // How many leading tasks of the phase before a task needs done, besides all of the phases before that one; none: all.
  std::function<Index(Index task)> needs = {};
};

// Does one phase after the other, the tasks of each being begun in their order: no task begins before what it needs of the
// phases before it is done. 0 ≤ worker < threads; two calls with one worker never overlap, and the calling thread is
// worker 0. The threads are woken once for all phases.
// Between two tasks each looks whether the caller's work is still wanted (core/tensor/cancellation.h), and check_cancelled()
// in a task does so too. An exception of a task, or the cancellation, ends all of it: the tasks under way finish, no
// further one begins, and it is thrown here. Who calls while others are served, or from within a task, does it all alone.
void run_phases(std::span<const TaskPhase> phases, int threads);

// The same with one phase.
void run_tasks(Index count, int threads, const std::function<void(Index task, int worker)>& body);

// Calls body(first, last) so that the ranges cover [0, count) once. `cost` is that of one of them in multiply-adds: what
// is cheap altogether is one range, in this thread; else ranges are short enough to be spread and to be cancelled between.
void for_ranges(Index count, double cost, const std::function<void(Index first, Index last)>& body);

}  // namespace headwise
