// Times work on the GPU from outside: until everything that was submitted is done.
#pragma once

#include <functional>

namespace headwise::gpu_bench {

// The median of some runs in milliseconds, after one that is not measured. Runs are repeated for about
// `seconds`, at least twice; where one is shorter than 2 ms, several are timed together.
double median_milliseconds(const std::function<void()>& run, double seconds);

}  // namespace headwise::gpu_bench
