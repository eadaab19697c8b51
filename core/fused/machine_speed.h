// The measured peak speed of this machine: the yardstick for every backend.
#pragma once

#include <cstdint>

namespace headwise {

// Multiply-adds in f32 with the instruction set in use, in 1e9 floating point operations per second, on
// `threads` threads for about `seconds`.
double fma_peak_gflops(int threads, double seconds);

// Bytes read and written, in 1e9 per second, when an array larger than the caches is copied on `threads`
// threads; the best of several runs. Throws Error(memory).
double copy_bandwidth_gbs(int threads);

// As many multiplications and additions as a core can do: the reference for the speed of a backend. Compiled
// once for each instruction set.

struct PeakKernel {
  std::int64_t round_flops;  // of one round, a multiply-add counted as two
  // Runs rounds over numbers that stay in registers; the result only prevents them from being optimised away.
  float (*run)(std::int64_t rounds);
};

}  // namespace headwise
