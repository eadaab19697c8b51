#include "core/fused/fused_backend.h"

#include "core/attention/add_and_norm.h"
#include "core/fused/fused_forward.h"
#include "core/fused/fused_projection.h"
#include "core/reference/kept_weights.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"
#include "core/trace/attention_sizes.h"
#include "core/trace/check_attention_inputs.h"

namespace headwise {
namespace {

TensorPtr shared(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

}  // namespace

std::string fused_refusal(const AttentionInputs& inputs) {
  return f32_backend_refusal(inputs, "fused");
}

TracePtr fused_forward(const AttentionInputs& inputs, const FusedRun& run) {
  check_attention_inputs(inputs);
  if (const std::string reason = fused_refusal(inputs); !reason.empty())
    throw Error(ExitStatus::usage, {.where = "fused", .what = reason, .remedy = "use --backend reference"});
  const FusedKernels& kernels = run.kernels ? *run.kernels : chosen_fused_kernels();
  const int threads = run.threads > 0 ? run.threads : available_threads();
  const AttentionSizes sizes = attention_sizes(inputs);

  const auto trace = std::make_shared<Trace>();
  trace->options = resolved_options(inputs);
  trace->dtype = inputs.dtype;
  trace->tensors = inputs.tensors;
  TraceTensors& t = trace->tensors;
  const AttentionOptions& options = trace->options;
  const bool module = options.op == Op::multi_head_attention;
  if (!module) {
    t.q_heads = std::move(t.query);
    t.k_heads = std::move(t.key);
    t.v_heads = std::move(t.value);
    t.query = t.key = t.value = nullptr;
  }
  const Shape heads_shape{
      {"N", sizes.batch}, {"H", sizes.heads}, {"L", sizes.queries}, {"Dv", sizes.v_head_dim}};
  FusedTakeover kept;
  if (module) kept = fused_takeover(run.before.get(), inputs, run.keep_attn_weights);
  // Memory of a tensor that this run computes; null if it is not requested, or is reused.
  const auto made = [](std::optional<Tensor>& tensor, bool wanted, const Shape& shape) -> float* {
    if (!wanted) return nullptr;
    tensor = Tensor::unwritten(shape, DType::f32);
    return tensor->values<float>().data();
  };
  std::optional<Tensor> weights, head_output, output;
  float* const to_weights = made(weights, run.keep_attn_weights && !kept.head_output, sizes.scores_shape());
  float* const to_head_output =
      made(head_output, !module || (run.keep_head_output && !kept.head_output), heads_shape);
  float* const to_output = made(output, module && !kept.output,
                                Shape{{"N", sizes.batch}, {"L", sizes.queries}, {"E", sizes.embed_dim}});
  FusedTasks tasks;
  if (kept.output) {
    t.output = kept.output;
  } else {
    FusedForward forward(kernels, threads, sizes, options, t);
    module ? forward.run_module(to_weights, to_head_output, to_output, kept)
           : forward.run_heads(to_weights, to_head_output);
    if (module && run.keep_projections && !kept.head_output) forward.keep_projections(t);
    tasks = forward.tasks();
  }
  if (run.tasks) *run.tasks = tasks;
  if (run.keep_projections && kept.head_output) {
    t.q = kept.q.before;
    t.k = kept.k.before;
    t.v = kept.v.before;
  }
  if (weights) keep_attn_weights(t, options, *std::move(weights));
  if (run.keep_attn_weights && kept.head_output) keep_attn_weights_of(run.before->tensors, t, options);
  if (head_output) t.head_output = shared(*std::move(head_output));
  if (run.keep_head_output && kept.head_output) t.head_output = kept.head_output;
  if (!module) {
    t.output = t.head_output;
    return trace;
  }
  if (output) t.output = shared(*std::move(output));
  if (options.residual) t.residual_output = shared(add_residual(*t.query, *t.output));
  if (options.layer_norm)
    t.layer_norm_output = shared(layer_norm(options.residual ? *t.residual_output : *t.output));
  return trace;
}

}  // namespace headwise
