#include <algorithm>
#include <vector>

#include "core/attention/check_attention_inputs.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/softmax.h"
#include "core/gpu/gl_state.h"
#include "core/gpu/gpu_linear.h"
#include "core/gpu/gpu_programs.h"
#include "core/gpu/gpu_qk_norm.h"
#include "core/gpu/gpu_rotary.h"
#include "core/gpu/gpu_work.h"
#include "core/gpu/storage_buffer.h"

namespace headwise {
namespace {

// The gains of a module's heads on the GPU.

// concat[token, h·Dv+e] = gains[h]·head_output[token, h·Dv+e]. Buffers must live until the work is done.
struct GpuHeadGains {
  Index tokens = 0, heads = 0, v_head_dim = 0;
  const StorageBuffer* head_output = nullptr;  // (tokens, H·Dv)
  const StorageBuffer* gains = nullptr;        // (H)
  const StorageBuffer* gate = nullptr;         // (tokens, H·Dv) or (tokens, H); null: none
  Index gate_width = 0;
  const StorageBuffer* concat = nullptr;  // (tokens, H·Dv)
};

constexpr Index block = 256;           // numbers of a work group
constexpr double work_of_gain = 16.0;  // in multiply-adds: reading and writing it is what takes time

void dispatch_gains(const GpuHeadGains& g, const ComputeProgram& program, Index alignment, Index first_number,
                    Index count, Index first_block, Index blocks) {
  program.use();
  program.set_size("count", count);
  program.set("head_output_offset", g.head_output->bind(0, first_number, count, alignment));
  program.set("gains_offset", g.gains->bind(1, 0, g.heads, alignment));
  program.set("concat_offset", g.concat->bind(3, first_number, count, alignment));
  const Index width = g.heads * g.v_head_dim;
  program.set_size("columns", g.gate ? width / g.gate_width : 0);
  if (g.gate)
    program.set("gate_offset",
                g.gate->bind(2, first_number / width * g.gate_width, count / width * g.gate_width, alignment));
  program.set_size("heads", g.heads);
  program.set_size("v_head_dim", g.v_head_dim);
  program.set_size("first_block", first_block);
  glDispatchCompute(static_cast<GLuint>(blocks), 1, 1);
}

// Adds the jobs that compute it, split so that none binds more of a buffer than the context allows.
void add_head_gains(GpuWork& work, GpuPrograms& programs, const GpuHeadGains& g) {
  const GpuLimits& limits = programs.limits();
  const ComputeProgram& program = programs.head_gains();
  const Index width = g.heads * g.v_head_dim;
  const Index seen = (limits.storage_block_bytes - limits.offset_alignment) / (4 * width);
  const Index tokens_each = std::max<Index>(1, std::min(seen, limits.groups_x * block / width));
  for (Index token = 0; token < g.tokens; token += tokens_each) {
    const Index first_number = token * width, count = std::min(tokens_each, g.tokens - token) * width;
    GpuJob job{.kind = "head_gains",
               .units = (count + block - 1) / block,
               .work = work_of_gain * static_cast<double>(block)};
    job.dispatch = [g, &program, alignment = limits.offset_alignment, first_number,
                    count](const GpuRange& range) {
      dispatch_gains(g, program, alignment, first_number, count, range.first_unit, range.units);
    };
    work.add(std::move(job));
  }
}

std::span<const float> numbers_of(const Tensor& tensor) {
  return tensor.values<float>();
}

// The gains of a module's heads; empty: all 1.
std::vector<float> gains_of(const AttentionOptions& options, const TraceTensors& t) {
  std::vector<float> gains;
  if (!projects(options.op)) return gains;
  for (Index h = 0; t.head_gain && h < t.head_gain->size(); ++h)
    gains.push_back(static_cast<float>(t.head_gain->flat(h)));
  if (!t.head_gain)
    for (const double gain : options.head_gain) gains.push_back(static_cast<float>(gain));
  return gains;
}

// The keys that the shader skips because of their positions.
std::optional<PositionReach> key_reach(const AttentionOptions& options, const TraceTensors& t,
                                       const AttentionSizes& s) {
  if (options.mask_value || s.all_keys > s.keys || t.nonpad_kv_seqlen) return std::nullopt;
  return PositionReach{.seen = seen_by_position(options), .offset = causal_offset(options, s.queries, s.keys)};
}

}  // namespace

GlForward::State::State(const AttentionInputs& inputs, const GlRun& asked)
    : run(asked),
      sizes(attention_sizes(inputs)),
      trace(std::make_shared<Trace>()),
      programs(asked.limits ? *asked.limits : gpu_limits()),
      work(queue) {
  run.limits = nullptr;  // may not live any longer
}

const StorageBuffer& GlForward::State::put(const char* name, const TensorPtr& tensor) {
  StorageBuffer& buffer = given[tensor.get()];
  if (!buffer) {
    buffer = StorageBuffer(name, tensor->size());
    buffer.write(0, numbers_of(*tensor));
  }
  return buffer;
}

// k or v, head by head (N,G,S′,width): projected or given, with the appended rows.
void GlForward::State::add_key_rows(Projection which, Index width,
                                    const std::optional<std::vector<TokenRange>>& changed, StorageBuffer& rows) {
  const TraceTensors& t = trace->tensors;
  const bool is_key = which == Projection::k;
  const TensorPtr& fixed = is_key ? t.static_k : t.static_v;
  const TensorPtr& bias_row = is_key ? t.bias_k : t.bias_v;
  const Index slab = sizes.key_rows() * width, new_keys = sizes.new_keys();
  for (Index n = 0; n < sizes.batch; ++n) {
    for (Index g = 0; g < sizes.kv_heads; ++g) {
      const Index first = (n * sizes.kv_heads + g) * slab;
      const auto given_part = static_cast<std::size_t>(new_keys * width);
      if (fixed)
        rows.write(first, numbers_of(*fixed).subspan(
                              static_cast<std::size_t>(n * sizes.kv_heads + g) * given_part, given_part));
      if (bias_row)
        rows.write(first + new_keys * width, numbers_of(*bias_row).subspan(static_cast<std::size_t>(g * width),
                                                                           static_cast<std::size_t>(width)));
      if (trace->options.add_zero_attn)  // for earlier inputs the row may have been a bias row
        rows.write(first + slab - width, std::vector<float>(static_cast<std::size_t>(width)));
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
              .rows = new_keys,
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
              .out_batch_stride = sizes.kv_heads * slab,
              .only = changed ? &*changed : nullptr});
}

void GlForward::State::add_projections(const ChangedInputs& changed) {
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
              .out_batch_stride = sizes.heads * sizes.queries * sizes.head_dim,
              .only = changed.query ? &*changed.query : nullptr});
  add_key_rows(Projection::k, sizes.head_dim, changed.key, k);
  add_key_rows(Projection::v, sizes.v_head_dim, changed.value, v);
}

// F.scaled_dot_product_attention: its inputs are the heads.
void GlForward::State::put_heads() {
  const TraceTensors& t = trace->tensors;
  q.write(0, numbers_of(*t.q_heads));
  k.write(0, numbers_of(*t.k_heads));
  v.write(0, numbers_of(*t.v_heads));
}

// q and k on their way to the scores (core/attention/score_path.h).
void GlForward::State::add_row_path() {
  const bool last = trace->options.qk_norm == QkNorm::per_head_after_rotary;
  if (normed_q && !last) add_norms();
  if (rotated_q) {
    work.barrier();
    add_rotary();
  }
  if (normed_q && last) {
    work.barrier();
    add_norms();
  }
  if (!present_k) return;
  work.barrier();
  add_to_past(present_k, last_of(k, normed_k, rotated_k), sizes.head_dim);
  add_to_past(present_v, v, sizes.v_head_dim);
}

void GlForward::State::add_norms() {
  const bool last = trace->options.qk_norm == QkNorm::per_head_after_rotary;
  const bool whole = trace->options.qk_norm == QkNorm::whole;
  const auto add = [&](Index count, Index tokens, const StorageBuffer& rows,
                       const StorageBuffer& gains_of_rows, const StorageBuffer& normed) {
    add_qk_norm(work, programs,
                {.norm = qk_norm_of(trace->options),
                 .whole = whole,
                 .batch = sizes.batch,
                 .heads = count,
                 .tokens = tokens,
                 .width = sizes.head_dim,
                 .rows = &rows,
                 .gains = gains_of_rows ? &gains_of_rows : nullptr,
                 .normed = &normed});
  };
  add(sizes.heads, sizes.queries, last && rotated_q ? rotated_q : q, gains_of_q, normed_q);
  add(sizes.kv_heads, sizes.new_keys(), last && rotated_k ? rotated_k : k, gains_of_k, normed_k);
}

void GlForward::State::add_rotary() {
  const bool after_norm = normed_q && trace->options.qk_norm != QkNorm::per_head_after_rotary;
  const Rotation rotation = rotation_of(trace->options);
  add_rotary_embedding(work, programs,
                       {.row_count = sizes.batch * sizes.heads * sizes.queries,
                        .tokens = sizes.queries,
                        .width = sizes.head_dim,
                        .pairs = rotation.count(),
                        .step = rotation.step(),
                        .apart = rotation.apart(),
                        .rows = after_norm ? &normed_q : &q,
                        .rotations = &rotation_q,
                        .rotated = &rotated_q});
  add_rotary_embedding(work, programs,
                       {.row_count = sizes.batch * sizes.kv_heads * sizes.new_keys(),
                        .tokens = sizes.new_keys(),
                        .width = sizes.head_dim,
                        .pairs = rotation.count(),
                        .step = rotation.step(),
                        .apart = rotation.apart(),
                        .rows = after_norm ? &normed_k : &k,
                        .rotations = &rotation_k,
                        .rotated = &rotated_k});
}

void GlForward::State::add_output() {
  const TraceTensors& t = trace->tensors;
  if (gate) {
    add_linear(work, programs,
               {.x = &put("query", t.query),
                .batch = sizes.batch,
                .rows = sizes.queries,
                .depth = sizes.embed_dim,
                .weight = &put("output_gate.weight", t.output_gate_weight),
                .columns = t.output_gate_weight->shape().size(0),
                .bias = t.output_gate_bias ? &put("output_gate.bias", t.output_gate_bias) : nullptr,
                .out = &gate,
                .out_part = t.output_gate_weight->shape().size(0),
                .out_row_stride = t.output_gate_weight->shape().size(0),
                .out_part_stride = 0,
                .out_batch_stride = sizes.queries * t.output_gate_weight->shape().size(0)});
    work.barrier();
  }
  if (gains)
    add_head_gains(work, programs,
                   {.tokens = sizes.batch * sizes.queries,
                    .heads = sizes.heads,
                    .v_head_dim = sizes.v_head_dim,
                    .head_output = &heads,
                    .gains = &gains,
                    .gate = gate ? &gate : nullptr,
                    .gate_width = gate ? t.output_gate_weight->shape().size(0) : 0,
                    .concat = &concat});
  work.barrier();
  add_linear(work, programs,
             {.x = gains ? &concat : &heads,
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

void GlForward::State::put_frozen() {
  held = {};
  const TensorPtr& weights = trace->tensors.frozen_weights;
  if (trace->options.frozen_heads.empty()) return;
  held.heads = trace->options.frozen_heads;
  held.weights = StorageBuffer("frozen_weights", weights->size());
  if (weights->dtype() == DType::f32) return held.weights.write(0, numbers_of(*weights));
  const auto given_numbers = weights->values<double>();
  const std::vector<float> rounded(given_numbers.begin(), given_numbers.end());
  held.weights.write(0, std::span<const float>(rounded));
}

void GlForward::State::take_over(const AttentionInputs& inputs) {
  std::erase_if(given, [&](const auto& entry) {
    return std::ranges::none_of(tensor_entries(), [&](const TensorEntry& tensor) {
      return (inputs.tensors.*(tensor.member)).get() == entry.first;
    });
  });
  trace = begun_trace(inputs);
  sizes = attention_sizes(trace->options, trace->tensors);
}

void GlForward::State::allocate_buffers() {
  const Index rows = sizes.batch * sizes.heads * sizes.queries;
  const Index key_rows = sizes.batch * sizes.kv_heads * sizes.key_rows();
  // Releases memory before allocating new memory.
  for (StorageBuffer* buffer : {&q, &k, &v, &statistics, &heads, &output, &concat}) *buffer = StorageBuffer();
  q = StorageBuffer("q", rows * sizes.head_dim);
  k = StorageBuffer("k", key_rows * sizes.head_dim);
  v = StorageBuffer("v", key_rows * sizes.v_head_dim);
  statistics = StorageBuffer("row statistics", 2 * rows);
  heads = StorageBuffer("head_output", rows * sizes.v_head_dim);
  if (is_module()) output = StorageBuffer("output", sizes.batch * sizes.queries * sizes.embed_dim);
  take_norms();
  take_rotary();
  take_past();
  take_masks();
  take_gains();
}

// The rows of the past; those of this pass come after them when they are computed.
void GlForward::State::take_past() {
  for (StorageBuffer* buffer : {&present_k, &present_v}) *buffer = StorageBuffer();
  const TraceTensors& t = trace->tensors;
  if (!t.past_key) return;
  const Index heads_count = sizes.batch * sizes.kv_heads;
  const auto take = [&](const char* name, const Tensor& past, StorageBuffer& present) {
    const Index width = past.shape().size(3), slab = sizes.past * width;
    present = StorageBuffer(name, heads_count * sizes.all_keys * width);
    for (Index head = 0; head < heads_count; ++head)
      present.write(
          head * sizes.all_keys * width,
          numbers_of(past).subspan(static_cast<std::size_t>(head * slab), static_cast<std::size_t>(slab)));
  };
  take("present_key", *t.past_key, present_k);
  take("present_value", *t.past_value, present_v);
}

// Copies the rows of each head after those of the past.
void GlForward::State::add_to_past(const StorageBuffer& present, const StorageBuffer& rows, Index width) {
  const Index slab = sizes.key_rows() * width, whole = sizes.all_keys * width, before = sizes.past * width;
  GpuJob job{.kind = "append_to_past",
             .units = sizes.batch * sizes.kv_heads,
             .work = work_of_gain * static_cast<double>(slab)};
  job.dispatch = [&present, &rows, slab, whole, before](const GpuRange& range) {
    for (Index head = range.first_unit; head < range.first_unit + range.units; ++head)
      rows.copy_to(present, head * slab, head * whole + before, slab);
  };
  work.add(std::move(job));
}

const StorageBuffer& GlForward::State::last_of(const StorageBuffer& rows, const StorageBuffer& normed,
                                               const StorageBuffer& rotated) const {
  const std::optional<QkNorm>& norm = trace->options.qk_norm;
  if (norm && (norm == QkNorm::per_head_after_rotary || !rotated_q)) return normed;
  return rotated ? rotated : rows;
}

void GlForward::State::take_norms() {
  const AttentionOptions& o = trace->options;
  for (StorageBuffer* buffer : {&gains_of_q, &gains_of_k}) *buffer = StorageBuffer();
  if (!o.qk_norm) {
    normed_q = StorageBuffer();
    normed_k = StorageBuffer();
    return;
  }
  if (normed_q.count() != q.count()) normed_q = StorageBuffer("q_normed", q.count());
  if (normed_k.count() != k.count()) normed_k = StorageBuffer("k_normed", k.count());
  for (const auto& [weight, buffer] :
       {std::pair(trace->tensors.q_norm_weight, &gains_of_q), {trace->tensors.k_norm_weight, &gains_of_k}}) {
    if (!weight) continue;
    std::vector<float> factors;
    for (Index i = 0; i < weight->size(); ++i)
      factors.push_back(static_cast<float>(o.qk_norm_offset + weight->flat(i)));
    *buffer = StorageBuffer("norm weights", weight->size());
    buffer->write(0, std::span<const float>(factors));
  }
}

void GlForward::State::take_rotary() {
  const Rotation rotation = rotation_of(trace->options);
  rotation_q = StorageBuffer();
  rotation_k = StorageBuffer();
  if (!rotation) {
    rotated_q = StorageBuffer();
    rotated_k = StorageBuffer();
    return;
  }
  if (rotated_q.count() != q.count()) rotated_q = StorageBuffer("q_rotary", q.count());
  if (rotated_k.count() != k.count()) rotated_k = StorageBuffer("k_rotary", k.count());
  rotation_q =
      rotary_cos_sin(rotation, rotary_first_query(trace->options, sizes.queries, sizes.keys), sizes.queries);
  rotation_k = rotary_cos_sin(rotation, rotary_first_key(trace->options), sizes.new_keys());
}

void GlForward::State::take_gains() {
  std::vector<float> given_gains = gains_of(trace->options, trace->tensors);
  const TensorPtr& gate_weight = trace->tensors.output_gate_weight;
  gate = StorageBuffer();
  if (gate_weight) {
    gate = StorageBuffer("output_gate", sizes.batch * sizes.queries * gate_weight->shape().size(0));
    given_gains.resize(static_cast<std::size_t>(sizes.heads), 1.0F);
  }
  if (given_gains.empty()) {
    gains = StorageBuffer();
    concat = StorageBuffer();
    return;
  }
  gains = StorageBuffer("gains", sizes.heads);
  gains.write(0, std::span<const float>(given_gains));
  if (!concat) concat = StorageBuffer("concat", heads.count());
}

void GlForward::State::take_masks() {
  const TraceTensors& t = trace->tensors;
  masks.reset();
  masks.emplace(trace->options, given_masks(t), sinks_of_heads(trace->options, t, sizes.heads), sizes);
  put_frozen();
  const bool module = is_module();
  const Index width = sizes.heads * sizes.v_head_dim;
  attention = {.sizes = sizes,
               .masks = &*masks,
               .computed = unfrozen_heads(sizes.heads, trace->options.frozen_heads),
               .q = &last_of(q, normed_q, rotated_q),
               .k = present_k ? &present_k : &last_of(k, normed_k, rotated_k),
               .v = present_v ? &present_v : &v,
               .statistics = &statistics,
               .out = &heads,
               .out_strides = {.query = module ? width : sizes.v_head_dim,
                               .head = module ? sizes.v_head_dim : sizes.queries * sizes.v_head_dim,
                               .batch = width * sizes.queries},
               .reach = key_reach(trace->options, t, sizes)};
}

void GlForward::State::plan(GlStage from, const ChangedInputs& changed) {
  work.begin();
  work.set_steps_at_once(run.steps_at_once);
  if (from <= GlStage::projections) is_module() ? add_projections(changed) : put_heads();
  if (from <= GlStage::attention) {
    work.barrier();
    add_row_path();
    work.barrier();
    add_attention(work, programs, attention);
    add_frozen_weights(work, programs, attention, held);
  }
  if (from <= GlStage::output && is_module()) {
    work.barrier();
    add_output();
  }
}

std::vector<const StorageBuffer*> GlForward::State::buffers() const {
  std::vector<const StorageBuffer*> all;
  for (const StorageBuffer* buffer :
       {&q,          &k,          &v,         &present_k, &present_v,  &normed_q,    &normed_k,
        &gains_of_q, &gains_of_k, &rotated_q, &rotated_k, &rotation_q, &rotation_k,  &statistics,
        &heads,      &gains,      &gate,      &concat,    &output,     &held.weights})
    if (*buffer) all.push_back(buffer);
  for (const auto& [tensor, buffer] : given) all.push_back(&buffer);
  for (const StorageBuffer* buffer : masks->buffers()) all.push_back(buffer);
  return all;
}

}  // namespace headwise
