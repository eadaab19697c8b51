// Forward passes at full size by one of the backends, timed.
#pragma once

#include <string>

#include "core/backend/backend.h"

namespace headwise {

struct FullSizePasses {
  TracePtr trace;       // q, k, v and output
  BackendId backend{};  // that did it
  bool kept_projections =
      false;           // q, k and v are those of the run before: what is timed is what comes after them
  std::string notice;  // why it is not the one that was asked for: a sentence
  double seconds =
      0.0;  // of a pass, the median of `runs`; with gl from the inputs on the GPU to the output there
  int runs = 0;
  double extra_mib = 0.0;    // that the first pass took beside inputs and parameters, at its peak; with gl, 0
  double peak_gflops = 0.0;  // of this machine, measured before each pass; with gl, 0: nobody knows
  std::string gpu;           // what computed, with gl
  double gpu_mib = 0.0;      // of the GPU's memory, inputs and parameters too
  double longest_slice = 0.0;  // milliseconds that the GPU was kept from drawing at once
  double read_seconds = 0.0;   // of reading q, k, v and output back from the GPU
};

// gl computes in a context of its own, in the thread that calls: a window's frames wait neither for its shaders to be compiled
// nor for a slice, on a GPU only for the slice that is under way. Where it cannot, or breaks off on the way, the fused backend
// does all of it, and `notice` says why. fused takes over q, k and v of `before` where they are the same. Throws what the backends throw otherwise, Error(cancelled).
FullSizePasses full_size_passes(const AttentionInputs& inputs, BackendId backend,
                                const TracePtr& before = nullptr);

}  // namespace headwise
