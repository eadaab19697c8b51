#include "core/fused/fused_backend.h"

#include "core/attention/add_and_norm.h"
#include "core/fused/fused_forward.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"
#include "core/trace/attention_sizes.h"
#include "core/trace/kept_projections.h"
#include "core/trace/kept_weights.h"
#include "core/trace/reference_backend.h"

namespace headwise {
namespace {

TensorPtr shared(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

}  // namespace

std::string fused_refusal(const AttentionInputs& inputs) {
  if (inputs.dtype != DType::f32) return "the fused backend computes in f32";
  const AttentionSizes sizes = attention_sizes(inputs);
  for (const Index size : {sizes.batch, sizes.queries, sizes.all_keys, sizes.head_dim, sizes.v_head_dim})
    if (size == 0) return "the fused backend wants a size of at least 1 in every axis";
  return "";
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
  std::optional<Tensor> weights;
  if (run.keep_attn_weights) weights = Tensor::unwritten(sizes.scores_shape(), DType::f32);
  float* const kept = weights ? weights->values<float>().data() : nullptr;
  Tensor output = Tensor::unwritten(
      module ? Shape{{"N", sizes.batch}, {"L", sizes.queries}, {"E", sizes.embed_dim}}
             : Shape{{"N", sizes.batch}, {"H", sizes.heads}, {"L", sizes.queries}, {"Dv", sizes.v_head_dim}},
      DType::f32);
  FusedForward forward(kernels, threads, sizes, options, t);
  if (module) {
    const bool keeps = run.before && run.before->tensors.q && run.before->tensors.k &&
                       run.before->tensors.v && have_same_projections(*run.before, inputs);
    const Trace* const before = keeps ? run.before.get() : nullptr;
    forward.run_module(kept, output.values<float>().data(), before);
    if (run.keep_projections && before) {
      t.q = before->tensors.q;
      t.k = before->tensors.k;
      t.v = before->tensors.v;
    } else if (run.keep_projections) {
      forward.keep_projections(t);
    }
  } else {
    forward.run_heads(kept, output.values<float>().data());
  }
  if (run.tasks) *run.tasks = forward.tasks();
  if (weights) keep_attn_weights(t, options, *std::move(weights));
  t.output = shared(std::move(output));
  if (!module) {
    t.head_output = t.output;
    return trace;
  }
  if (options.residual) t.residual_output = shared(add_residual(*t.query, *t.output));
  if (options.layer_norm)
    t.layer_norm_output = shared(layer_norm(options.residual ? *t.residual_output : *t.output));
  return trace;
}

}  // namespace headwise
