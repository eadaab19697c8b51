// What this machine can do at most, measured: the measure of every backend.
#pragma once

namespace headwise {

// Multiply-adds in f32 with the instruction set in use, in 1e9 floating point operations a second, on `threads` threads for
// about `seconds`.
double fma_peak_gflops(int threads, double seconds);

// Bytes that are read and written, in 1e9 a second, when an array larger than the caches is copied on `threads` threads; the
// best of a few times. Throws Error(memory).
double copy_bandwidth_gbs(int threads);

}  // namespace headwise
