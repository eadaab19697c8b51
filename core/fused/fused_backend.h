// The fast path on the CPU: the operator in f32 without its intermediates. It computes the same as the
// reference (core/attention/reference_backend.h), up to f32 rounding.
#pragma once

#include <string>

#include "core/attention/trace.h"

namespace headwise {

// The work of a run, in tasks.
struct FusedTasks {
  Index projections = 0;  // of q, k and v
  Index attentions = 0;
  Index outputs = 0;  // output projections
  Index gates = 0;    // projections of the output gate
  friend bool operator==(const FusedTasks&, const FusedTasks&) = default;
};

struct FusedRun {
  int threads = 0;                 // 0: as many as this process may use
  bool keep_attn_weights = false;  // attn_weights, dropped_weights and attn_output_weights too
  bool keep_projections = false;   // q, k and v too
  bool keep_head_output = false;   // head_output too
  // For a module: its stages are reused up to the first that an edit affects (core/attention/stage_cache.h);
  // for q, k and v also the tokens that no edit affects, if there are enough of them. The bits are those of a
  // run without it, if it comes from this backend and the same instruction set.
  TracePtr before = nullptr;
  FusedTasks* tasks = nullptr;  // null: not counted
};

// A sentence saying why the reference must compute these inputs; empty if this backend can: f32, every
// option, sizes of at least 1.
std::string fused_refusal(const AttentionInputs& inputs);

// The trace has output and what follows it, what `run` requests, and no other intermediate. Apart from these
// it needs memory for the tokens, not for their pairs. Equal bits for any number of threads. Throws
// Error(input) like check_attention_inputs, Error(usage) if fused_refusal has a reason, Error(memory) before
// allocating what is not available, Error(cancelled).
TracePtr fused_forward(const AttentionInputs& inputs, const FusedRun& run = {});

}  // namespace headwise
