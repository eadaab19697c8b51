// The operator on the GPU with OpenGL compute shaders, in f32 and without its intermediates. It computes the
// same as the reference (core/attention/reference_backend.h), up to f32 rounding. Needs a current context
// (compute_refusal()), the same one throughout.
#pragma once

#include <memory>
#include <string>

#include "core/attention/trace.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/gpu_work.h"

namespace headwise {

struct GlRun {
  bool keep_attn_weights = false;     // attn_weights, dropped_weights and attn_output_weights too
  SliceLimits slices = slices_alone;  // slices_beside_window where a window draws on the same GPU
  // For tests: exactly so many blocks of 64 keys, or of 64 columns of a product's depth, in one dispatch;
  // 0: as measured.
  Index steps_at_once = 0;
  const GpuLimits* limits = nullptr;  // null: the context's own; read by the constructor alone
};

// A sentence saying why another backend must compute these inputs; empty if this one can.
std::string gl_refusal(const AttentionInputs& inputs, const GpuLimits& limits);

class GlForward {
 public:
  // Checks, allocates GPU memory and uploads the inputs; computes nothing yet. Throws Error(input) like
  // check_attention_inputs, Error(usage) if gl_refusal has a reason, Error(memory), Error(no_display)
  // if a shader does not compile.
  explicit GlForward(const AttentionInputs& inputs, const GlRun& run = {});
  ~GlForward();
  GlForward(GlForward&&) noexcept;
  GlForward& operator=(GlForward&&) noexcept;

  // Submits one more slice of work, or none while two are in flight; false when everything is computed.
  // Never waits for long.
  bool advance();
  // Waits until everything is computed, reporting progress (core/tensor/progress.h). Throws Error(cancelled)
  // (core/tensor/cancellation.h), and what check_gpu() throws (core/gpu/gpu_faults.h).
  void finish();
  // After everything is computed: restarts it from what is already on the GPU. Computes nothing yet.
  void again();
  // The same for other inputs. Arrays shared with the previous inputs stay on the GPU, and so do results up
  // to the first affected stage (core/attention/stage_cache.h); if only inputs have changed, q, k and v are
  // computed for the tokens that differ. Throws like the constructor.
  void follow(const AttentionInputs& inputs);
  double progress() const;  // 0 … 1

  // After everything is computed: q, k, v, output and what follows it, with keep_attn_weights the weights
  // too, and no other intermediate. Reads them back (core/gpu/gpu_read.h). Throws Error(memory),
  // Error(cancelled), what check_gpu() throws.
  TracePtr trace();
  // Weights of batch n, head h, queries [first, first + rows): (rows, S′), recomputed from q,
  // k and the rows' statistics.
  Tensor attn_weights(Index n, Index h, Index first, Index rows);

  // Number of work items of the last run by the name of their shader ("matrix_product",
  // "scaled_dot_product_attention").
  Index tiles(const std::string& shader) const;
  double longest_slice() const;     // milliseconds of GPU time
  double gpu_milliseconds() const;  // of all slices
  Index gpu_bytes() const;          // of GPU memory, including inputs and parameters
  bool guards_intact() const;       // whether no shader wrote outside its buffers

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Computes everything in one call.
TracePtr gl_forward(const AttentionInputs& inputs, const GlRun& run = {});

}  // namespace headwise
