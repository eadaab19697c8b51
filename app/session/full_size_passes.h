// Forward passes at full size by one of the backends, timed.
#pragma once

#include <string>

#include "core/backend/backend.h"

namespace headwise {

struct FullSizePasses {
  TracePtr trace;                 // q, k, v and output
  BackendId backend{};            // that computed it
  bool kept_projections = false;  // q, k and v are those of the previous run: only what follows them is timed
  std::string notice;             // why it is not the requested one: a sentence
  double seconds = 0.0;  // of a pass, median over `runs`; with gl from the inputs on the GPU to the output there
  int runs = 0;
  double extra_mib = 0.0;      // peak memory of the first pass beyond inputs and parameters; with gl, 0
  double peak_gflops = 0.0;    // of this machine's processor or, with gl, its GPU, measured before each pass
  std::string gpu;             // name of the GPU, with gl
  double gpu_mib = 0.0;        // GPU memory used, inputs and parameters included
  double longest_slice = 0.0;  // longest time without drawing, in milliseconds
  double read_seconds = 0.0;   // time to read q, k, v and output back from the GPU
};

// gl computes in its own context, on the calling thread: a window's frames wait neither for its shaders to compile nor for
// its slices, except on a GPU for the slice under way. If it cannot, or fails part-way, the fused backend does all of it,
// and `notice` says why. fused reuses q, k and v of `before` where they are the same. Otherwise throws what the backends
// throw, and Error(cancelled).
FullSizePasses full_size_passes(const AttentionInputs& inputs, BackendId backend,
                                const TracePtr& before = nullptr);

}  // namespace headwise
