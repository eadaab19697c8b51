// Independent tasks on a few threads that wait between calls. Which thread does which task is open; a task must not
// depend on it.
#pragma once

#include <functional>

#include "core/tensor/shape.h"

namespace headwise {

// How many threads there are to be had: those that this process may run on.
int available_threads();

// Calls body(task, worker) for every task in [0, count), 0 ≤ worker < threads; two calls with one worker never overlap.
// The calling thread is worker 0. Between two of its tasks it looks whether the work is still wanted
// (core/tensor/cancellation.h). An exception of a task, or the cancellation, ends all of it: the tasks under way finish,
// no further one begins, and it is thrown here. One caller at a time; a second one waits.
void run_tasks(Index count, int threads, const std::function<void(Index task, int worker)>& body);

}  // namespace headwise
