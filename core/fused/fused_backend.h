// The fast path on the CPU: the operator in f32 without its intermediates. What it computes is what the reference
// computes (core/reference/reference_backend.h), to f32's rounding.
#pragma once

#include <string>

#include "core/fused/kernels.h"
#include "core/trace/trace.h"

namespace headwise {

// What a run had to do, in tasks.
struct FusedTasks {
  Index projections = 0;  // of q, k and v
  Index attentions = 0;
  Index outputs = 0;  // output projections
  friend bool operator==(const FusedTasks&, const FusedTasks&) = default;
};

struct FusedRun {
  int threads = 0;                        // 0: as many as this process may run on
  bool keep_attn_weights = false;         // attn_weights, dropped_weights and attn_output_weights too
  bool keep_projections = false;          // q, k and v too
  bool keep_head_output = false;          // head_output too
  const FusedKernels* kernels = nullptr;  // null: chosen_fused_kernels()
  // Of a module: what it has kept is taken over up to the first stage that an edit touches (core/reference/reusable_stages.h); of q,
  // k and v also the tokens that no edit touched, where these are not too few. The bits are those of a run without it,
  // where it comes from this backend and the same kernels.
  TracePtr before = nullptr;
  FusedTasks* tasks = nullptr;  // null: nobody asks
};

// Why these inputs are the reference's to compute, a sentence; empty where this backend can: f32, every option, sizes of at
// least 1.
std::string fused_refusal(const AttentionInputs& inputs);

// The trace has output and what follows it, what `run` wants kept, and no other intermediate. Beside these it takes memory
// for the tokens, not for their pairs.
// Equal bits for any number of threads. Throws Error(input) as check_attention_inputs does, Error(usage) where
// fused_refusal has a reason, Error(memory) before taking what is not there, Error(cancelled).
TracePtr fused_forward(const AttentionInputs& inputs, const FusedRun& run = {});

}  // namespace headwise
