#include "core/gpu/gl_backend.h"

#include <epoxy/gl.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "core/attention/add_and_norm.h"
#include "core/attention/in_projection.h"
#include "core/gpu/gpu_attention.h"
#include "core/gpu/gpu_linear.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/trace/attention_sizes.h"
#include "core/trace/kept_weights.h"
#include "core/trace/reference_backend.h"

namespace headwise {
namespace {

constexpr Index tile_numbers = Index{4} << 20;  // of weights that are read back at once

std::span<const float> numbers(const Tensor& tensor) {
  return tensor.values<float>();
}

TensorPtr shared(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

void check_not_lost() {
  const bool tells = epoxy_gl_version() >= 45 || epoxy_has_gl_extension("GL_KHR_robustness");
  if (!tells || glGetGraphicsResetStatus() == GL_NO_ERROR) return;
  throw Error(ExitStatus::no_display,
              {.where = "gl",
               .what = "the graphics driver was reset, and what the GPU had computed is gone",
               .remedy = "use --backend fused"});
}

// The gains of a module's heads; empty: all 1.
std::vector<float> gains_of(const AttentionOptions& options, const TraceTensors& t) {
  std::vector<float> gains;
  if (options.op != Op::multi_head_attention) return gains;
  for (Index h = 0; t.head_gain && h < t.head_gain->size(); ++h)
    gains.push_back(static_cast<float>(t.head_gain->flat(h)));
  if (!t.head_gain)
    for (const double gain : options.head_gain) gains.push_back(static_cast<float>(gain));
  return gains;
}

}  // namespace

struct GlForward::State {
  State(const AttentionInputs& inputs, const GlRun& asked)
      : run(asked),
        sizes(attention_sizes(inputs)),
        trace(std::make_shared<Trace>()),
        programs(asked.limits ? *asked.limits : gpu_limits()) {}

  bool is_module() const { return trace->options.op == Op::multi_head_attention; }
  const StorageBuffer& put(const char* name, const TensorPtr& tensor);
  void add_key_rows(Projection which, Index width, StorageBuffer& rows);
  void add_projections();
  void put_heads();
  void add_output();

  GlRun run;
  AttentionSizes sizes;
  std::shared_ptr<Trace> trace;
  GpuPrograms programs;
  GpuWork work;
  std::map<const Tensor*, StorageBuffer> given;  // inputs and parameters; one array, one buffer
  StorageBuffer q, k, v, statistics, heads, output;
  std::optional<GpuMasks> masks;
  GpuAttention attention;
};

const StorageBuffer& GlForward::State::put(const char* name, const TensorPtr& tensor) {
  StorageBuffer& buffer = given[tensor.get()];
  if (!buffer) {
    buffer = StorageBuffer(name, tensor->size());
    buffer.write(0, numbers(*tensor));
  }
  return buffer;
}

// k or v, head by head (N,G,S′,width): projected or given, with the rows that are appended.
void GlForward::State::add_key_rows(Projection which, Index width, StorageBuffer& rows) {
  const TraceTensors& t = trace->tensors;
  const bool is_key = which == Projection::k;
  const TensorPtr& fixed = is_key ? t.static_k : t.static_v;
  const TensorPtr& bias_row = is_key ? t.bias_k : t.bias_v;
  const Index slab = sizes.all_keys * width;
  for (Index n = 0; n < sizes.batch; ++n) {
    for (Index g = 0; g < sizes.kv_heads; ++g) {
      const Index first = (n * sizes.kv_heads + g) * slab;
      const auto given_part = static_cast<std::size_t>(sizes.keys * width);
      if (fixed)
        rows.write(first, numbers(*fixed).subspan(
                              static_cast<std::size_t>(n * sizes.kv_heads + g) * given_part, given_part));
      if (bias_row)  // a zero row behind it is there already
        rows.write(first + sizes.keys * width, numbers(*bias_row).subspan(static_cast<std::size_t>(g * width),
                                                                          static_cast<std::size_t>(width)));
    }
  }
  if (fixed) return;
  const TensorPtr& source = is_key ? t.key : t.value;
  const TensorPtr& own = is_key ? t.k_proj_weight : t.v_proj_weight;
  const LinearRows weight =
      in_projection_rows(which, trace->options, t.in_proj_weight.get(), own.get(), t.in_proj_bias.get());
  add_linear(work, programs,
             {.x = &put("key or value", source),
              .batch = sizes.batch,
              .rows = sizes.keys,
              .depth = source->shape().size(2),
              .weight = &put("weight", t.in_proj_weight ? t.in_proj_weight : own),
              .first_weight_row = weight.first_weight_row,
              .columns = sizes.kv_heads * width,
              .bias = weight.bias ? &put("in_proj_bias", t.in_proj_bias) : nullptr,
              .first_bias_entry = weight.first_bias_entry,
              .out = &rows,
              .out_part = width,
              .out_row_stride = width,
              .out_part_stride = slab,
              .out_batch_stride = sizes.kv_heads * slab});
}

void GlForward::State::add_projections() {
  const TraceTensors& t = trace->tensors;
  const LinearRows weight = in_projection_rows(Projection::q, trace->options, t.in_proj_weight.get(),
                                               t.q_proj_weight.get(), t.in_proj_bias.get());
  add_linear(work, programs,
             {.x = &put("query", t.query),
              .batch = sizes.batch,
              .rows = sizes.queries,
              .depth = sizes.embed_dim,
              .weight = &put("weight", t.in_proj_weight ? t.in_proj_weight : t.q_proj_weight),
              .first_weight_row = weight.first_weight_row,
              .columns = sizes.heads * sizes.head_dim,
              .bias = weight.bias ? &put("in_proj_bias", t.in_proj_bias) : nullptr,
              .first_bias_entry = weight.first_bias_entry,
              .out = &q,
              .out_part = sizes.head_dim,
              .out_row_stride = sizes.head_dim,
              .out_part_stride = sizes.queries * sizes.head_dim,
              .out_batch_stride = sizes.heads * sizes.queries * sizes.head_dim});
  add_key_rows(Projection::k, sizes.head_dim, k);
  add_key_rows(Projection::v, sizes.v_head_dim, v);
}

// F.scaled_dot_product_attention: its inputs are the heads.
void GlForward::State::put_heads() {
  TraceTensors& t = trace->tensors;
  t.q_heads = std::move(t.query);
  t.k_heads = std::move(t.key);
  t.v_heads = std::move(t.value);
  t.query = t.key = t.value = nullptr;
  q.write(0, numbers(*t.q_heads));
  k.write(0, numbers(*t.k_heads));
  v.write(0, numbers(*t.v_heads));
}

void GlForward::State::add_output() {
  const TraceTensors& t = trace->tensors;
  output = StorageBuffer("output", sizes.batch * sizes.queries * sizes.embed_dim);
  add_linear(work, programs,
             {.x = &heads,
              .batch = sizes.batch,
              .rows = sizes.queries,
              .depth = sizes.heads * sizes.v_head_dim,
              .weight = &put("out_proj.weight", t.out_proj_weight),
              .columns = sizes.embed_dim,
              .bias = t.out_proj_bias ? &put("out_proj.bias", t.out_proj_bias) : nullptr,
              .out = &output,
              .out_part = sizes.embed_dim,
              .out_row_stride = sizes.embed_dim,
              .out_part_stride = 0,
              .out_batch_stride = sizes.queries * sizes.embed_dim});
}

std::string gl_refusal(const AttentionInputs& inputs, const GpuLimits& limits) {
  if (inputs.dtype != DType::f32) return "the gl backend computes in f32";
  if (!inputs.options.frozen_heads.empty())
    return "the gl backend computes the weights of every head, and holds none of a frozen one";
  const AttentionSizes s = attention_sizes(inputs);
  for (const Index size : {s.batch, s.queries, s.all_keys, s.head_dim, s.v_head_dim, s.embed_dim})
    if (size == 0) return "the gl backend wants a size of at least 1 in every axis";
  if (std::string reason = gpu_attention_refusal(s, limits); !reason.empty()) return reason;
  const TraceTensors& t = inputs.tensors;
  return GpuMasks::refusal({t.attn_mask.get(), t.key_padding_mask.get(), t.valid_lens.get()},
                           limits.storage_block_bytes);
}

GlForward::GlForward(const AttentionInputs& inputs, const GlRun& run) {
  check_attention_inputs(inputs);
  state_ = std::make_unique<State>(inputs, run);
  State& s = *state_;
  if (const std::string reason = gl_refusal(inputs, s.programs.limits()); !reason.empty())
    throw Error(ExitStatus::usage, {.where = "gl", .what = reason, .remedy = "use --backend reference"});
  s.trace->options = resolved_options(inputs);
  s.trace->dtype = inputs.dtype;
  s.trace->tensors = inputs.tensors;
  const TraceTensors& t = s.trace->tensors;
  const AttentionSizes& sizes = s.sizes;
  const Index rows = sizes.batch * sizes.heads * sizes.queries;
  const Index key_rows = sizes.batch * sizes.kv_heads * sizes.all_keys;
  s.q = StorageBuffer("q", rows * sizes.head_dim);
  s.k = StorageBuffer("k", key_rows * sizes.head_dim);
  s.v = StorageBuffer("v", key_rows * sizes.v_head_dim);
  s.statistics = StorageBuffer("row statistics", 2 * rows);
  s.heads = StorageBuffer("head_output", rows * sizes.v_head_dim);
  s.masks.emplace(s.trace->options,
                  GivenMasks{t.attn_mask.get(), t.key_padding_mask.get(), t.valid_lens.get()}, sizes,
                  gains_of(s.trace->options, t));
  const bool module = s.is_module();
  const Index width = sizes.heads * sizes.v_head_dim;
  s.attention = {.sizes = sizes,
                 .masks = &*s.masks,
                 .q = &s.q,
                 .k = &s.k,
                 .v = &s.v,
                 .statistics = &s.statistics,
                 .out = &s.heads,
                 .out_stride = module ? width : sizes.v_head_dim,
                 .out_head_stride = module ? sizes.v_head_dim : sizes.queries * sizes.v_head_dim,
                 .out_batch_stride = width * sizes.queries};
  module ? s.add_projections() : s.put_heads();
  add_attention(s.work, s.programs, s.attention);
  if (module) s.add_output();
}

GlForward::~GlForward() = default;
GlForward::GlForward(GlForward&&) noexcept = default;
GlForward& GlForward::operator=(GlForward&&) noexcept = default;

bool GlForward::advance() {
  return state_->work.advance(state_->run.slice_milliseconds, false);
}

void GlForward::finish() {
  while (state_->work.advance(state_->run.slice_milliseconds, true)) {
    check_cancelled();
    check_not_lost();
  }
}

double GlForward::progress() const {
  return state_->work.progress();
}

double GlForward::longest_slice() const {
  return state_->work.longest_slice();
}

double GlForward::gpu_milliseconds() const {
  return state_->work.gpu_milliseconds();
}

bool GlForward::guards_intact() const {
  const State& s = *state_;
  for (const StorageBuffer* buffer : {&s.q, &s.k, &s.v, &s.statistics, &s.heads, &s.output})
    if (*buffer && !buffer->guards_intact()) return false;
  return std::ranges::all_of(s.given, [](const auto& entry) { return entry.second.guards_intact(); });
}

Tensor GlForward::attn_weights(Index n, Index h, Index first, Index rows) {
  const AttentionSizes& sizes = state_->sizes;
  Tensor weights(Shape{{"L", rows}, {sizes.key_axis(), sizes.all_keys}}, DType::f32);
  const StorageBuffer tile("tile of attn_weights", rows * sizes.all_keys);
  attention_weights_rows(state_->programs, state_->attention, n, h, first, rows, tile);
  tile.read(0, weights.values<float>());
  return weights;
}

TracePtr GlForward::trace() {
  State& s = *state_;
  const AttentionSizes& sizes = s.sizes;
  const auto trace = std::make_shared<Trace>(*s.trace);
  TraceTensors& t = trace->tensors;
  // (N,heads,rows,width) of the GPU as (N,rows,heads·width)
  const auto joined = [&](const StorageBuffer& from, Index heads, Index rows, Index width,
                          const char* row_axis, const char* axis) {
    Tensor tensor(Shape{{"N", sizes.batch}, {row_axis, rows}, {axis, heads * width}}, DType::f32);
    const auto to = tensor.values<float>();
    std::vector<float> head(static_cast<std::size_t>(rows * width));
    for (Index n = 0; n < sizes.batch; ++n) {
      for (Index h = 0; h < heads; ++h) {
        check_cancelled();
        from.read((n * heads + h) * rows * width, head);
        for (Index row = 0; row < rows; ++row)
          std::copy_n(head.begin() + row * width, width, to.begin() + ((n * rows + row) * heads + h) * width);
      }
    }
    return shared(std::move(tensor));
  };
  if (s.run.keep_attn_weights) {
    Tensor weights(sizes.scores_shape(), DType::f32);
    const auto to = weights.values<float>();
    const Index most = std::clamp<Index>(tile_numbers / sizes.all_keys, 1, sizes.queries);
    const StorageBuffer tile("tile of attn_weights", most * sizes.all_keys);
    for (Index row = 0; row < sizes.batch * sizes.heads; ++row) {
      for (Index first = 0; first < sizes.queries; first += most) {
        check_cancelled();
        const Index rows = std::min(most, sizes.queries - first);
        attention_weights_rows(s.programs, s.attention, row / sizes.heads, row % sizes.heads, first, rows,
                               tile);
        tile.read(0, to.subspan(static_cast<std::size_t>((row * sizes.queries + first) * sizes.all_keys),
                                static_cast<std::size_t>(rows * sizes.all_keys)));
      }
    }
    keep_attn_weights(t, trace->options, std::move(weights));
  }
  if (!s.is_module()) {
    Tensor output(
        Shape{{"N", sizes.batch}, {"H", sizes.heads}, {"L", sizes.queries}, {"Dv", sizes.v_head_dim}},
        DType::f32);
    s.heads.read(0, output.values<float>());
    t.head_output = t.output = shared(std::move(output));
    return trace;
  }
  t.q = joined(s.q, sizes.heads, sizes.queries, sizes.head_dim, "L", "H·D");
  t.k = joined(s.k, sizes.kv_heads, sizes.all_keys, sizes.head_dim, sizes.key_axis(), "G·D");
  t.v = joined(s.v, sizes.kv_heads, sizes.all_keys, sizes.v_head_dim, sizes.key_axis(), "G·Dv");
  Tensor output(Shape{{"N", sizes.batch}, {"L", sizes.queries}, {"E", sizes.embed_dim}}, DType::f32);
  s.output.read(0, output.values<float>());
  t.output = shared(std::move(output));
  if (trace->options.residual) t.residual_output = shared(add_residual(*t.query, *t.output));
  if (trace->options.layer_norm)
    t.layer_norm_output = shared(layer_norm(trace->options.residual ? *t.residual_output : *t.output));
  return trace;
}

TracePtr gl_forward(const AttentionInputs& inputs, const GlRun& run) {
  GlForward forward(inputs, run);
  forward.finish();
  return forward.trace();
}

}  // namespace headwise
