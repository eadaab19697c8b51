// Runs tasks on a few threads that wait between calls. Which thread does which task is unspecified;
// a task must not depend on it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

// The number of available threads: those that this process may use, or fewer under a ThreadLimit.
int available_threads();

// During its lifetime, available_threads() in this thread is `threads` (≥ 1), even if there are fewer.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int outer_;
};

// Tasks [0, count) that can be done in any order and in parallel: body(task, worker).
struct TaskPhase {
  Index count = 0;
  std::function<void(Index task, int worker)> body;
  // How many leading tasks of the previous phase a task needs done,
  // besides all phases before that one; empty: all.
  std::function<Index(Index task)> needs = {};
};

// Tasks of several kinds, which need all of the previous phase, in one phase.
TaskPhase together(std::vector<TaskPhase> kinds);

// Runs the phases in order, starting the tasks of each in order: no task starts before what it needs of the
// earlier phases is done. 0 ≤ worker < threads; two calls with one worker never overlap, and the calling
// thread is worker 0. The threads are woken once for all phases. Between two tasks each checks whether the
// caller's work is cancelled (core/tensor/cancellation.h), and so does check_cancelled() in a task. An
// exception of a task, or the cancellation, ends everything: running tasks finish, no further one starts, and
// it is rethrown here. A call made while another is being served, or from within a task,
// does everything in its own thread.
void run_phases(std::span<const TaskPhase> phases, int threads);

// The same with a single phase.
void run_tasks(Index count, int threads, const std::function<void(Index task, int worker)>& body);

// Calls body(first, last) so that the ranges cover [0, count) once. `cost` is that of one item in
// multiply-adds: cheap work is one range, in this thread; otherwise ranges are short enough to be distributed
// and to be cancelled in between.
void for_ranges(Index count, double cost, const std::function<void(Index first, Index last)>& body);

}  // namespace headwise
