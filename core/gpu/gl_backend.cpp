#include "core/gpu/gl_backend.h"

#include <algorithm>

#include "core/attention/check_attention_inputs.h"
#include "core/attention/reference_backend.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/stage_cache.h"
#include "core/gpu/gl_state.h"
#include "core/gpu/gpu_faults.h"
#include "core/gpu/gpu_qk_norm.h"
#include "core/gpu/gpu_rotary.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/progress.h"

namespace headwise {

std::string gl_refusal(const AttentionInputs& inputs, const GpuLimits& limits) {
  if (std::string reason = f32_backend_refusal(inputs, "gl"); !reason.empty()) return reason;
  if (inputs.options.indexer) return "the gl backend does not choose keys by an indexer (indexer)";
  if (is_latent(inputs.options)) return "the gl backend does not compute multi_head_latent_attention (op)";
  const AttentionSizes s = attention_sizes(inputs);
  if (std::string reason = gpu_attention_refusal(s, limits); !reason.empty()) return reason;
  if (const Index pairs = rotation_of(resolved_options(inputs)).count(); pairs > 0) {
    if (std::string reason = gpu_rotary_refusal(std::max(s.queries, s.new_keys()), pairs, limits);
        !reason.empty())
      return reason;
  }
  const bool whole = inputs.options.qk_norm == QkNorm::whole;
  if (std::string reason = gpu_qk_norm_refusal(
          whole, std::max(s.heads * s.queries, s.kv_heads * s.new_keys()) * s.head_dim, limits);
      !reason.empty())
    return reason;
  return GpuMasks::refusal(given_masks(inputs.tensors), limits);
}

namespace {

void check_not_refused(const AttentionInputs& inputs, const GpuLimits& limits) {
  if (const std::string reason = gl_refusal(inputs, limits); !reason.empty())
    throw Error(ExitStatus::usage, {.where = "gl", .what = reason, .remedy = "use --backend reference"});
}

// The first stage affected by the change from `before` to `inputs`.
GlStage first_stage(const Trace& before, const AttentionInputs& inputs) {
  if (!have_same_projections(before, inputs)) return GlStage::projections;
  if (!have_same_attention(before, inputs)) return GlStage::attention;
  return have_same_output(before, inputs) ? GlStage::none : GlStage::output;
}

// For q, k and v computed in the same way from inputs of the same shapes.
ChangedInputs changed_inputs(const TraceTensors& before, const TraceTensors& now) {
  return {changed_tokens(*before.query, *now.query), changed_tokens(*before.key, *now.key),
          changed_tokens(*before.value, *now.value)};
}

}  // namespace

GlForward::GlForward(const AttentionInputs& inputs, const GlRun& run) {
  check_attention_inputs(inputs);
  gpu_fault();  // clears earlier faults of this context, which are not this run's
  state_ = std::make_unique<State>(inputs, run);
  check_not_refused(inputs, state_->programs.limits());
  state_->take_over(inputs);
  state_->allocate_buffers();
  state_->plan(GlStage::projections);
}

void GlForward::follow(const AttentionInputs& inputs) {
  check_attention_inputs(inputs);
  State& s = *state_;
  check_not_refused(inputs, s.programs.limits());
  const bool fits = attention_sizes(inputs) == s.sizes && inputs.options.op == s.trace->options.op;
  const GlStage from = first_stage(*s.trace, inputs);
  ChangedInputs changed;
  if (from == GlStage::projections && s.is_module() && have_same_projection_parameters(*s.trace, inputs))
    changed = changed_inputs(s.trace->tensors, inputs.tensors);
  s.take_over(inputs);
  if (!fits) {
    s.allocate_buffers();
  } else {
    if (from <= GlStage::attention) {
      s.take_norms();
      s.take_rotary();
      s.take_past();
      s.take_masks();
    }
    if (from <= GlStage::output) s.take_gains();
  }
  s.plan(from, changed);
}

GlForward::~GlForward() = default;
GlForward::GlForward(GlForward&&) noexcept = default;
GlForward& GlForward::operator=(GlForward&&) noexcept = default;

bool GlForward::advance() {
  return state_->work.advance(state_->run.slices, false);
}

void GlForward::finish() {
  while (state_->work.advance(state_->run.slices, true)) {
    check_cancelled();
    check_gpu();
    const ProgressPart part(progress(), progress());
  }
  check_gpu();
}

void GlForward::again() {
  // Heads that are given are there already: to upload them again would take longer than what is computed.
  state_->plan(state_->is_module() ? GlStage::projections : GlStage::attention);
}

double GlForward::progress() const {
  return state_->work.progress();
}

Index GlForward::tiles(const std::string& shader) const {
  return state_->work.units(shader);
}

double GlForward::longest_slice() const {
  return state_->work.longest_slice();
}

double GlForward::gpu_milliseconds() const {
  return state_->work.gpu_milliseconds();
}

Index GlForward::gpu_bytes() const {
  Index bytes = 0;
  for (const StorageBuffer* buffer : state_->buffers()) bytes += buffer->bytes();
  return bytes;
}

bool GlForward::guards_intact() const {
  return std::ranges::all_of(state_->buffers(),
                             [](const StorageBuffer* buffer) { return buffer->guards_intact(); });
}

TracePtr gl_forward(const AttentionInputs& inputs, const GlRun& run) {
  GlForward forward(inputs, run);
  forward.finish();
  return forward.trace();
}

}  // namespace headwise
