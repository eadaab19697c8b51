#include "core/fused/fused_backend.h"

#include <algorithm>
#include <cmath>

#include "core/attention/add_and_norm.h"
#include "core/attention/in_projection.h"
#include "core/fused/fused_attention.h"
#include "core/fused/fused_projection.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"
#include "core/trace/attention_sizes.h"
#include "core/trace/kept_weights.h"
#include "core/trace/reference_backend.h"
#include "core/trace/trace_warnings.h"

namespace headwise {
namespace {

const float* numbers(const TensorPtr& tensor) {
  return tensor->values<float>().data();
}

bool all_finite(const Tensor& tensor) {
  return std::ranges::all_of(tensor.values<float>(), [](float x) { return std::isfinite(x); });
}

// k or v: projected, or given; with the rows that are appended. (N,S′,W)
Tensor key_rows(const FusedKernels& kernels, const AttentionInputs& inputs, const AttentionSizes& sizes,
                Projection which, Index width, const char* axis, const Panels& x, Index depth, int threads) {
  const TraceTensors& t = inputs.tensors;
  const bool is_key = which == Projection::k;
  const TensorPtr& given = is_key ? t.static_k : t.static_v;
  Tensor rows(Shape{{"N", sizes.batch}, {sizes.key_axis(), sizes.all_keys}, {axis, width}}, DType::f32);
  float* const out = rows.values<float>().data();
  if (given) {  // (N,G,S,D) joined over heads
    const Index part = width / sizes.kv_heads;
    for (Index n = 0; n < sizes.batch; ++n)
      for (Index g = 0; g < sizes.kv_heads; ++g)
        for (Index s = 0; s < sizes.keys; ++s)
          std::copy_n(numbers(given) + ((n * sizes.kv_heads + g) * sizes.keys + s) * part, part,
                      out + (n * sizes.all_keys + s) * width + g * part);
  } else {
    const TensorPtr& own = is_key ? t.k_proj_weight : t.v_proj_weight;
    const LinearRows weight =
        in_projection_rows(which, inputs.options, t.in_proj_weight.get(), own.get(), t.in_proj_bias.get());
    project(kernels, x, depth, weight, width, {.rows = out, .batch_stride = sizes.all_keys * width}, threads);
  }
  const TensorPtr& bias_row = is_key ? t.bias_k : t.bias_v;
  for (Index n = 0; bias_row && n < sizes.batch; ++n)  // a zero row behind it is there already
    std::copy_n(numbers(bias_row), width, out + (n * sizes.all_keys + sizes.keys) * width);
  return rows;
}

// Rows of k and v of one head: `k` and `v` at (n, s = 0, g), with the strides from one key to the next.
void fill_keys(Blocks& keys, Blocks& values, const float* k, Index k_stride, const float* v, Index v_stride,
               Index all_keys, Index v_head_dim) {
  const Index height = keys.height;
  for (Index b = 0; b < keys.count; ++b)
    fill_block(k + b * height * k_stride, std::min(height, all_keys - b * height), k_stride, keys.depth,
               height, keys.block(b));
  for (Index b = 0; b < values.count; ++b) {
    const Index made = std::min(height, v_head_dim - b * height);
    float* out = values.block(b);
    for (Index s = 0; s < all_keys; ++s, out += height) {
      std::copy_n(v + s * v_stride + b * height, made, out);
      std::fill(out + made, out + height, 0.0f);
    }
  }
}

struct Heads {
  const float* first;                       // of batch 0, head 0, token 0
  Index batch_stride, head_stride, stride;  // to the next batch, head, token
};

FusedKeys fused_keys(const FusedKernels& kernels, const AttentionSizes& sizes, const Heads& k, const Heads& v,
                     int threads) {
  FusedKeys all;
  for (Index i = 0; i < sizes.batch * sizes.kv_heads; ++i) {
    all.keys.emplace_back(kernels, sizes.all_keys, sizes.head_dim);
    all.values.emplace_back(kernels, sizes.v_head_dim, sizes.all_keys);
  }
  run_tasks(sizes.batch * sizes.kv_heads, threads, [&](Index task, int) {
    const Index n = task / sizes.kv_heads, g = task % sizes.kv_heads;
    const auto i = static_cast<std::size_t>(task);
    fill_keys(all.keys[i], all.values[i], k.first + n * k.batch_stride + g * k.head_stride, k.stride,
              v.first + n * v.batch_stride + g * v.head_stride, v.stride, sizes.all_keys, sizes.v_head_dim);
  });
  return all;
}

TensorPtr shared(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

// Where q, k and v of a head stand for the attention.
struct Projected {
  Panels q;
  Heads k, v;
};

// nn.MultiheadAttention: q, k and v of the trace, and q as panels.
Projected project_inputs(const FusedKernels& kernels, const AttentionInputs& inputs,
                         const AttentionSizes& sizes, TraceTensors& t, int threads) {
  const Index q_width = sizes.heads * sizes.head_dim, k_width = sizes.kv_heads * sizes.head_dim;
  const Index v_width = sizes.kv_heads * sizes.v_head_dim;
  // query, key and value as panels, each array once; one that a static_k or static_v replaces is not read.
  const Panels query =
      panels_of(kernels, numbers(t.query), sizes.batch, sizes.queries, sizes.embed_dim, threads);
  const auto panels_beside = [&](const TensorPtr& source, const TensorPtr& replaced, const TensorPtr& known) {
    if (replaced || source == t.query || source == known) return Panels();
    return panels_of(kernels, numbers(source), sizes.batch, sizes.keys, source->shape().size(2), threads);
  };
  const Panels key = panels_beside(t.key, t.static_k, nullptr);
  const TensorPtr read_key = t.static_k ? nullptr : t.key;
  const Panels value = panels_beside(t.value, t.static_v, read_key);

  Projected made{Panels(kernels, sizes.batch, sizes.queries, q_width), {}, {}};
  Tensor q(Shape{{"N", sizes.batch}, {"L", sizes.queries}, {"H·D", q_width}}, DType::f32);
  project(kernels, query, sizes.embed_dim,
          in_projection_rows(Projection::q, inputs.options, t.in_proj_weight.get(), t.q_proj_weight.get(),
                             t.in_proj_bias.get()),
          q_width,
          {.panels = &made.q, .rows = q.values<float>().data(), .batch_stride = sizes.queries * q_width},
          threads);
  t.q = shared(std::move(q));
  t.k = shared(key_rows(kernels, inputs, sizes, Projection::k, k_width, "G·D", t.key == t.query ? query : key,
                        t.key->shape().size(2), threads));
  t.v = shared(key_rows(kernels, inputs, sizes, Projection::v, v_width, "G·Dv",
                        t.value == t.query    ? query
                        : t.value == read_key ? key
                                              : value,
                        t.value->shape().size(2), threads));
  made.k = {numbers(t.k), sizes.all_keys * k_width, sizes.head_dim, k_width};
  made.v = {numbers(t.v), sizes.all_keys * v_width, sizes.v_head_dim, v_width};
  return made;
}

// F.scaled_dot_product_attention: its inputs are the heads.
Projected given_heads(const FusedKernels& kernels, const AttentionSizes& sizes, TraceTensors& t,
                      int threads) {
  t.q_heads = std::move(t.query);
  t.k_heads = std::move(t.key);
  t.v_heads = std::move(t.value);
  t.query = t.key = t.value = nullptr;
  Projected made{Panels(kernels, sizes.batch, sizes.queries, sizes.heads * sizes.head_dim), {}, {}};
  Panels& q = made.q;
  run_tasks(sizes.batch * q.count, threads, [&](Index task, int) {
    const Index n = task / q.count, p = task % q.count, first = p * q.lanes;
    for (Index h = 0; h < sizes.heads; ++h)
      fill_panel(numbers(t.q_heads) + ((n * sizes.heads + h) * sizes.queries + first) * sizes.head_dim,
                 std::min(q.lanes, sizes.queries - first), sizes.head_dim, sizes.head_dim, q.lanes,
                 q.panel(n, p) + h * sizes.head_dim * q.lanes);
  });
  made.k = {numbers(t.k_heads), sizes.kv_heads * sizes.keys * sizes.head_dim, sizes.keys * sizes.head_dim,
            sizes.head_dim};
  made.v = {numbers(t.v_heads), sizes.kv_heads * sizes.keys * sizes.v_head_dim, sizes.keys * sizes.v_head_dim,
            sizes.v_head_dim};
  return made;
}

// (N,H,L,Dv), of the panels of all heads
Tensor heads_of(const Panels& concat, const AttentionSizes& sizes, int threads) {
  Tensor output(Shape{{"N", sizes.batch}, {"H", sizes.heads}, {"L", sizes.queries}, {"Dv", sizes.v_head_dim}},
                DType::f32);
  float* const out = output.values<float>().data();
  run_tasks(sizes.batch * concat.count, threads, [&](Index task, int) {
    const Index n = task / concat.count, p = task % concat.count, first = p * concat.lanes;
    for (Index h = 0; h < sizes.heads; ++h)
      read_panel(concat.panel(n, p) + h * sizes.v_head_dim * concat.lanes,
                 std::min(concat.lanes, sizes.queries - first), sizes.v_head_dim, concat.lanes,
                 out + ((n * sizes.heads + h) * sizes.queries + first) * sizes.v_head_dim, sizes.v_head_dim);
  });
  return output;
}

// All heads side by side, times their gains; `weights` (N,H,L,S′) is filled where it is not null.
Panels attend(const FusedKernels& kernels, const AttentionOptions& options, const AttentionSizes& sizes,
              const TraceTensors& t, const Projected& from, Tensor* weights, int threads) {
  const GivenMasks given{t.attn_mask.get(), t.key_padding_mask.get(), t.valid_lens.get()};
  const bool module = options.op == Op::multi_head_attention;
  std::optional<MaskStrips> masks;
  if (has_any_mask(options, given)) {
    const bool finite = all_finite(module ? *t.k : *t.k_heads) && all_finite(module ? *t.v : *t.v_heads);
    masks.emplace(options, given, sizes.batch, sizes.queries, sizes.keys, sizes.all_keys, finite);
  }
  const FusedKeys keys = fused_keys(kernels, sizes, from.k, from.v, threads);
  std::vector<float> gains;
  if (module && t.head_gain) {
    for (Index h = 0; h < sizes.heads; ++h) gains.push_back(static_cast<float>(t.head_gain->flat(h)));
  } else if (module) {
    for (const double gain : options.head_gain) gains.push_back(static_cast<float>(gain));
  }
  Panels concat(kernels, sizes.batch, sizes.queries, sizes.heads * sizes.v_head_dim);
  const FusedAttention attention{kernels,
                                 options,
                                 masks ? &*masks : nullptr,
                                 sizes.batch,
                                 sizes.queries,
                                 sizes.all_keys,
                                 sizes.heads,
                                 sizes.kv_heads,
                                 sizes.head_dim,
                                 sizes.v_head_dim,
                                 keys,
                                 from.q,
                                 gains.empty() ? nullptr : gains.data(),
                                 concat,
                                 weights ? weights->values<float>().data() : nullptr};
  std::vector<FusedScratch> scratch(static_cast<std::size_t>(threads));
  run_tasks(fused_attention_tasks(attention), threads, [&](Index task, int worker) {
    FusedScratch& own = scratch[static_cast<std::size_t>(worker)];
    if (own.scores.size() == 0) own = fused_attention_scratch(attention);
    fused_attention_task(attention, task, own);
  });
  return concat;
}

}  // namespace

std::string fused_refusal(const AttentionInputs& inputs) {
  if (inputs.dtype != DType::f32) return "the fused backend computes in f32";
  if (inputs.options.mask_value)
    return "the fused backend adds −∞ where a mask blocks, and fills no other number";
  if (!inputs.options.frozen_heads.empty())
    return "the fused backend computes the weights of every head, and holds none of a frozen one";
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
  const Projected from =
      module ? project_inputs(kernels, inputs, sizes, t, threads) : given_heads(kernels, sizes, t, threads);
  std::optional<Tensor> weights;
  if (run.keep_attn_weights) weights.emplace(sizes.scores_shape(), DType::f32);
  const Panels concat = attend(kernels, options, sizes, t, from, weights ? &*weights : nullptr, threads);
  if (weights) keep_attn_weights(t, options, *std::move(weights));
  if (!module) {
    t.head_output = t.output = shared(heads_of(concat, sizes, threads));
    return trace;
  }
  Tensor output(Shape{{"N", sizes.batch}, {"L", sizes.queries}, {"E", sizes.embed_dim}}, DType::f32);
  project(kernels, concat, sizes.heads * sizes.v_head_dim,
          {t.out_proj_weight.get(), 0, t.out_proj_bias.get(), 0}, sizes.embed_dim,
          {.rows = output.values<float>().data(), .batch_stride = sizes.queries * sizes.embed_dim}, threads);
  t.output = shared(std::move(output));
  if (options.residual) t.residual_output = shared(add_residual(*t.query, *t.output));
  if (options.layer_norm)
    t.layer_norm_output = shared(layer_norm(options.residual ? *t.residual_output : *t.output));
  return trace;
}

}  // namespace headwise
