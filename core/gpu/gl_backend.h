// The operator on the GPU by OpenGL compute shaders, in f32 and without its intermediates. What it computes is what the
// reference computes (core/reference/reference_backend.h), to f32's rounding. Needs a current context (compute_refusal()), the
// same one from beginning to end.
#pragma once

#include <memory>
#include <string>

#include "core/gpu/gpu_limits.h"
#include "core/trace/trace.h"

namespace headwise {

struct GlRun {
  bool keep_attn_weights = false;     // attn_weights, dropped_weights and attn_output_weights too
  double slice_milliseconds = 4.0;    // of the GPU's time that one call of advance() hands over
  const GpuLimits* limits = nullptr;  // null: the context's own
};

// Why these inputs are another backend's to compute, a sentence; empty where this one can.
std::string gl_refusal(const AttentionInputs& inputs, const GpuLimits& limits);

class GlForward {
 public:
  // Checks, takes the GPU's memory and hands over the inputs; nothing is computed yet. Throws Error(input) as
  // check_attention_inputs does, Error(usage) where gl_refusal has a reason, Error(memory), Error(no_display) where a
  // shader does not compile.
  explicit GlForward(const AttentionInputs& inputs, const GlRun& run = {});
  ~GlForward();
  GlForward(GlForward&&) noexcept;
  GlForward& operator=(GlForward&&) noexcept;

  // One slice of work more, or none while two are under way; false when all is computed. Never waits for long.
  bool advance();
  // Waits until all is computed, telling how far it has come (core/tensor/progress.h). Throws Error(cancelled)
  // (core/tensor/cancellation.h), and what check_gpu() throws (core/gpu/gpu_faults.h).
  void finish();
  // After all is computed: all of it once more, from what is on the GPU already. Nothing is computed yet.
  void again();
  // The same for other inputs. What they share with those before stays on the GPU, array by array, and what is computed up to
  // the first stage that they touch (core/reference/reusable_stages.h); where inputs alone are others, q, k and v of the tokens that
  // differ are made. Throws as the constructor does.
  void follow(const AttentionInputs& inputs);
  double progress() const;  // 0 … 1

  // After all is computed: q, k, v, output and what follows it, with keep_attn_weights the weights too, and no other
  // intermediate. Reads them back (core/gpu/gpu_read.h). Throws Error(memory), Error(cancelled), what check_gpu() throws.
  TracePtr trace();
  // Weights of batch n, head h, queries [first, first + rows): (rows, S′), made again from q, k and the rows' statistics.
  Tensor attn_weights(Index n, Index h, Index first, Index rows);

  // Pieces of work of the last run by the name of their shader ("matrix_product", "scaled_dot_product_attention").
  Index tiles(const std::string& shader) const;
  double longest_slice() const;     // milliseconds of the GPU's time
  double gpu_milliseconds() const;  // of all slices
  Index gpu_bytes() const;          // of the GPU's memory that it holds, inputs and parameters too
  bool guards_intact() const;       // whether no shader wrote beside its buffers

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// All of it at once.
TracePtr gl_forward(const AttentionInputs& inputs, const GlRun& run = {});

}  // namespace headwise
