// The measured peak speed of this machine: the yardstick for every backend.
#pragma once

namespace headwise {

// Multiply-adds in f32 with the instruction set in use, in 1e9 floating point operations per second, on
// `threads` threads for about `seconds`.
double fma_peak_gflops(int threads, double seconds);

// Bytes read and written, in 1e9 per second, when an array larger than the caches is copied on `threads`
// threads; the best of several runs. Throws Error(memory).
double copy_bandwidth_gbs(int threads);

}  // namespace headwise
