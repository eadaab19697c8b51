#include "core/fused/fused_backend.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/check_attention_inputs.h"
#include "core/attention/heads.h"
#include "core/attention/in_projection.h"
#include "core/attention/kept_weights.h"
#include "core/attention/reference_backend.h"
#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/attention/softmax.h"
#include "core/attention/trace_warnings.h"
#include "core/fused/fused_attention.h"
#include "core/fused/fused_latent.h"
#include "core/fused/fused_layout.h"
#include "core/fused/fused_projection.h"
#include "core/fused/fused_row_path.h"
#include "core/fused/head_shares.h"
#include "core/fused/kernels.h"
#include "core/tensor/error.h"
#include "core/tensor/instruction_set.h"
#include "core/tensor/task_threads.h"

namespace headwise {

HEADWISE_KERNELS(FusedKernels, fused_kernels)

namespace {

TensorPtr shared(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

const float* numbers_of(const TensorPtr& tensor) {
  return tensor->values<float>().data();
}

// One run, as phases of tasks over its buffers. Everything is laid out on construction.
class FusedForward {
 public:
  FusedForward(const FusedKernels& kernels, int threads, const AttentionSizes& sizes,
               const AttentionOptions& options, TraceTensors& tensors)
      : kernels_(kernels),
        threads_(threads),
        sizes_(sizes),
        options_(options),
        t_(tensors),
        given_(given_masks(t_)),
        keys_(kernels, sizes, has_any_mask(options, given_)),
        row_path_(options, sizes, tensors),
        sinks_(sinks_of_heads(options, tensors, sizes.heads)) {
    if (has_any_mask(options, given_)) masks_.emplace(options, t_, sizes);
    for (Index h = 0; !options.frozen_heads.empty() && h < sizes.heads; ++h) {
      const auto at = std::ranges::find(options.frozen_heads, h);
      const bool held = at != options.frozen_heads.end();
      frozen_.push_back({held ? t_.frozen_weights.get() : nullptr, at - options.frozen_heads.begin()});
    }
  }

  // nn.MultiheadAttention; weights (N,H,L,S′) and head_output (N,H,L,Dv), or null, and output (N,L,E).
  void run_module(float* weights, float* head_output, float* output, const FusedTakeover& kept) {
    std::vector<TaskPhase> phases;
    QueriesAt queries{};
    if (kept.head_output) {
      // Nothing is attended to.
    } else if (kept.q.before || row_path_ || t_.past_key) {
      project_rows(kept, phases);
      const Index width = sizes_.heads * sizes_.head_dim;
      TensorPtr q = q_rows_, k = k_rows_, v = v_rows_;
      if (row_path_) {
        phases.push_back(
            together(row_path_.follow({q, sizes_.batch, sizes_.heads}, {k, sizes_.batch, sizes_.kv_heads})));
        q = row_path_.q();
        k = row_path_.k();
      }
      if (t_.past_key) phases.push_back(append_past(k, v));
      phases.push_back(together({keys_.kept_keys(*k), keys_.kept_values(*v)}));
      queries = {.first = numbers_of(q),
                 .batch = sizes_.queries * width,
                 .head = sizes_.head_dim,
                 .panel = panel_lanes * width,
                 .row = width,
                 .depth = 1};
    } else {
      add_projections(phases);
      queries = {.first = q_.panel(0, 0),
                 .batch = q_.count * q_.step,
                 .head = sizes_.head_dim * panel_lanes,
                 .panel = q_.step,
                 .row = 1,
                 .depth = panel_lanes};
    }
    for (Index h = 0; t_.head_gain && h < sizes_.heads; ++h)
      gains_.push_back(static_cast<float>(t_.head_gain->flat(h)));
    if (gains_.empty()) gains_.assign(options_.head_gain.begin(), options_.head_gain.end());
    concat_ = Panels(sizes_.batch, sizes_.queries, sizes_.heads * sizes_.v_head_dim);
    const FusedAttention attention = attention_of(queries, &concat_, head_output, weights);
    FusedScratch room(threads_, fused_attention_scratch(attention));
    phases.push_back(kept.head_output ? concat_of(attention, *kept.head_output) : tasks_of(attention, room));
    // With masks a task first checks whether all of k and v are finite.
    if (values_ && !masks_ && sizes_.all_keys == sizes_.keys) {
      phases.back().needs = [&](Index task) {
        const auto [n, h] = fused_attention_head(attention, task);
        const Index g = kv_head_of(h, sizes_.heads, sizes_.kv_heads);
        return before_values_ + fused_projection_tasks_until(*values_, n, (g + 1) * sizes_.v_head_dim);
      };
    }
    if (options_.output_gate) add_gate(phases);
    const FusedProjection out{.kernels = kernels_,
                              .x = concat_,
                              .weight = {t_.out_proj_weight.get(), 0, t_.out_proj_bias.get(), 0},
                              .features = sizes_.embed_dim,
                              .to = {.rows = output, .row_tokens = sizes_.queries}};
    phases.push_back(tasks_of(out, tasks_.outputs));
    phases.back().needs = [&](Index task) {
      const auto [n, panel] = fused_projection_reads_from(out, task);
      return options_.output_gate ? n * concat_.count + panel + 1
                                  : fused_attention_tasks_until(attention, n, panel);
    };
    run_phases(phases, threads_);
  }

  FusedTasks tasks() const { return tasks_; }

  // q (N,L,H·D), k (N,S′,G·D) and v (N,S′,G·Dv) of a module that has been run.
  void keep_projections(TraceTensors& kept) const {
    if (q_rows_) {
      kept.q = q_rows_;
      kept.k = k_rows_;
      kept.v = v_rows_;
      return;
    }
    const Index q_width = q_.width, k_width = keys_.k.heads * keys_.k.width,
                v_width = keys_.v.heads * keys_.v.width;
    const auto made = [&](TensorId id) {
      return std::make_shared<Tensor>(Tensor::unwritten(computed_shape(id, options_, sizes_), DType::f32));
    };
    const auto q = made(TensorId::q), k = made(TensorId::k), v = made(TensorId::v);
    float* const to_q = q->values<float>().data();
    float* const to_k = k->values<float>().data();
    float* const to_v = v->values<float>().data();
    const TaskPhase queries{sizes_.batch * q_.count, [&](Index task, int) {
                              const Index n = task / q_.count, p = task % q_.count;
                              kernels_.transpose(
                                  q_.panel(n, p), panel_lanes, q_width, q_.tokens_of(p), nullptr,
                                  to_q + (n * sizes_.queries + p * panel_lanes) * q_width, q_width);
                            }};
    const TaskPhase keys{
        sizes_.batch * keys_.k.count, [&](Index task, int) {
          const Index n = task / keys_.k.count, p = task % keys_.k.count, first = p * panel_lanes;
          const Index last = std::min(first + panel_lanes, keys_.k.tokens);
          for (Index g = 0; g < keys_.k.heads; ++g) {
            kernels_.transpose(keys_.k.panel(n, g, p), panel_lanes, keys_.k.width, last - first, nullptr,
                               to_k + (n * keys_.k.tokens + first) * k_width + g * keys_.k.width, k_width);
            for (Index s = first; s < last; ++s)
              std::copy_n(keys_.v.row(n, g, s), keys_.v.width,
                          to_v + (n * keys_.v.tokens + s) * v_width + g * keys_.v.width);
          }
        }};
    run_phases(std::array{together({queries, keys})}, threads_);
    kept.q = q;
    kept.k = k;
    kept.v = v;
  }

  // F.scaled_dot_product_attention, whose inputs are the heads; weights (N,H,L,S) or null, output (N,H,L,Dv).
  void run_heads(float* weights, float* output) {
    const Index D = sizes_.head_dim, L = sizes_.queries;
    std::vector<TaskPhase> phases;
    TensorPtr q = t_.q_heads, k = t_.k_heads, v = t_.v_heads;
    if (row_path_) {
      phases.push_back(together(
          row_path_.follow({q, sizes_.batch * sizes_.heads, 1}, {k, sizes_.batch * sizes_.kv_heads, 1})));
      q = row_path_.q();
      k = row_path_.k();
    }
    // If there are heads for every thread, each puts the keys of its own heads into panels.
    const Index kv_heads = sizes_.batch * sizes_.kv_heads;
    const bool by_head = kv_heads >= threads_;
    if (t_.past_key) phases.push_back(append_past(k, v));
    const TaskPhase values = keys_.given_values(*v, FusedKeys::Search::later);
    phases.push_back(by_head ? values : together({keys_.given_keys(*k), values}));
    const FusedAttention attention = attention_of({.first = numbers_of(q),
                                                   .batch = sizes_.heads * L * D,
                                                   .head = L * D,
                                                   .panel = panel_lanes * D,
                                                   .row = D,
                                                   .depth = 1},
                                                  nullptr, output, weights);
    FusedScratch room(threads_, fused_attention_scratch(attention));
    const TaskPhase tasks = tasks_of(attention, room);
    phases.push_back(tasks);
    HeadShares shares(kv_heads, tasks.count / kv_heads, threads_);
    if (by_head) {
      phases.back().body = [&](Index, int worker) {
        const Index task = shares.next(worker, [&](Index head) { keys_.put_keys(*k, head); });
        if (task >= 0) tasks.body(task, worker);
      };
    }
    run_phases(phases, threads_);
    if (attention.searches_values && !keys_.finite) run_phases(std::array{tasks}, threads_);
  }

 private:
  // Linear layers that are computed together, and what puts their inputs into panels before.
  struct Projections {
    Index& count;  // of their tasks
    std::vector<TaskPhase> into_panels = {}, tasks = {};
    void put(std::vector<TaskPhase>& phases) {
      phases.push_back(together(std::move(into_panels)));
      phases.push_back(together(std::move(tasks)));
    }
  };

  // q, k and v as phases.
  void add_projections(std::vector<TaskPhase>& phases) {
    Projections projections{tasks_.projections};
    q_ = Panels(sizes_.batch, sizes_.queries, sizes_.heads * sizes_.head_dim);
    project(rows_of(Projection::q, t_.q_proj_weight), false, t_.query, {.panels = &q_}, q_.width, projections);
    if (t_.static_k) {
      projections.tasks.push_back(keys_.given_keys(*t_.static_k));
    } else {
      project(rows_of(Projection::k, t_.k_proj_weight), masks_.has_value(), t_.key, {.head_panels = &keys_.k},
              sizes_.kv_heads * sizes_.head_dim, projections);
    }
    if (t_.static_v) {
      projections.tasks.push_back(keys_.given_values(*t_.static_v, FusedKeys::Search::now));
    } else {
      values_.emplace(project(rows_of(Projection::v, t_.v_proj_weight), masks_.has_value(), t_.value,
                              {.head_rows = &keys_.v}, sizes_.kv_heads * sizes_.v_head_dim, projections));
    }
    before_values_ = projections.tasks[0].count + projections.tasks[1].count;
    projections.put(phases);
    if (sizes_.all_keys > sizes_.keys)
      phases.push_back({sizes_.batch, [&](Index n, int) {
                          keys_.append(n, t_.bias_k ? numbers_of(t_.bias_k) : nullptr,
                                       t_.bias_v ? numbers_of(t_.bias_v) : nullptr);
                        }});
  }

  // q, k and v as rows: those of the previous run with the changed panels projected again, or all projected.
  void project_rows(const FusedTakeover& kept, std::vector<TaskPhase>& phases) {
    Projections projections{tasks_.projections};
    const auto follow = [&](Projection which, const FusedRows& rows, const TensorPtr& x,
                            const TensorPtr& own_weight, TensorId id) -> TensorPtr {
      if (rows.before && rows.changed.empty()) return rows.before;
      const Shape shape = computed_shape(id, options_, sizes_);
      const auto made = std::make_shared<Tensor>(Tensor::unwritten(shape, DType::f32));
      float* const to = made->values<float>().data();
      const Index slab = shape.size(1) * shape.size(2);
      if (rows.before)
        projections.into_panels.push_back(
            {shape.size(0), [to, slab, from = numbers_of(rows.before)](Index n, int) {
               std::copy_n(from + n * slab, slab, to + n * slab);
             }});
      else if (which != Projection::q && sizes_.all_keys > sizes_.keys)
        projections.into_panels.push_back(
            {shape.size(0), [this, to, slab, width = shape.size(2),
                             bias = which == Projection::k ? t_.bias_k : t_.bias_v](Index n, int) {
               float* row = to + (n + 1) * slab - (sizes_.all_keys - sizes_.keys) * width;
               if (bias) row = std::copy_n(numbers_of(bias), width, row);
               if (options_.add_zero_attn) std::fill_n(row, width, 0.0f);
             }});
      project(rows_of(which, own_weight), masks_ && which != Projection::q, x,
              {.rows = to, .row_tokens = shape.size(1)}, shape.size(2), projections,
              rows.before ? &rows.changed : nullptr);
      return made;
    };
    q_rows_ = follow(Projection::q, kept.q, t_.query, t_.q_proj_weight, TensorId::q);
    k_rows_ = follow(Projection::k, kept.k, t_.key, t_.k_proj_weight, TensorId::k);
    v_rows_ = t_.static_v && !kept.v.before
                  ? std::make_shared<const Tensor>(merge_heads(*t_.static_v, nullptr, "G·Dv"))
                  : follow(Projection::v, kept.v, t_.value, t_.v_proj_weight, TensorId::v);
    projections.put(phases);
  }

  // k and v become those of the past and, after them, those of this run.
  TaskPhase append_past(TensorPtr& k, TensorPtr& v) {
    held_.insert(held_.end(), {k, v});
    PastRows keys = append_to_past(*t_.past_key, *k, sizes_),
             values = append_to_past(*t_.past_value, *v, sizes_);
    k = keys.present;
    v = values.present;
    held_.insert(held_.end(), {k, v});
    return together({std::move(keys.tasks), std::move(values.tasks)});
  }

  // concat ⊙ σ(query·W_gᵀ + b_g), panel by panel.
  void add_gate(std::vector<TaskPhase>& phases) {
    Projections projections{tasks_.gates};
    gate_ = Panels(sizes_.batch, sizes_.queries, t_.output_gate_weight->shape().size(0));
    project({t_.output_gate_weight.get(), 0, t_.output_gate_bias.get(), 0}, false, t_.query,
            {.panels = &gate_}, gate_.width, projections);
    projections.put(phases);
    phases.push_back({concat_.batch * concat_.count, [this](Index task, int) {
                        using Numbers = Eigen::Map<Eigen::ArrayXf>;
                        const Index n = task / concat_.count, p = task % concat_.count;
                        float *const to = concat_.panel(n, p), *const gate = gate_.panel(n, p);
                        const Index columns = concat_.width / gate_.width;
                        for (Index g = 0; g < gate_.width; ++g) {
                          const Eigen::Array<float, panel_lanes, 1> x =
                              Numbers(gate + g * panel_lanes, panel_lanes);
                          const Eigen::Array<float, panel_lanes, 1> open =
                              x.isNaN().select(x, 1.0F / (1.0F + (-x).exp()));  // exp alone loses NaN
                          for (Index c = g * columns; c < (g + 1) * columns; ++c)
                            Numbers(to + c * panel_lanes, panel_lanes) *= open;
                        }
                      }});
  }

  LinearRows rows_of(Projection which, const TensorPtr& own_weight) const {
    return in_projection_rows(which, options_, t_.in_proj_weight.get(), own_weight.get(),
                              t_.in_proj_bias.get());
  }

  // x·Wᵀ + b, for all panels or `only` some; a panel that several layers read is built once. Attention checks
  // its own queries for what is not finite.
  FusedProjection project(const LinearRows& weight, bool asks_finite, const TensorPtr& x,
                          const ProjectionTarget& to, Index features, Projections& projections,
                          const std::vector<PanelPlace>* only = nullptr) {
    auto [made, fills] = inputs_.panels(*x, only);
    projections.into_panels.push_back(std::move(fills));
    const FusedProjection projection{.kernels = kernels_,
                                     .x = made,
                                     .weight = weight,
                                     .features = features,
                                     .to = to,
                                     .asks_finite = asks_finite,
                                     .only = only};
    projections.tasks.push_back(tasks_of(projection, projections.count));
    return projection;
  }

  TaskPhase tasks_of(const FusedProjection& projection, Index& count) {
    count += fused_projection_tasks(projection);
    return {fused_projection_tasks(projection), [this, projection](Index task, int worker) {
              keys_.note(run_fused_projection_task(projection, task, projecting_.of(worker)));
            }};
  }

  TaskPhase tasks_of(const FusedAttention& attention, FusedScratch& room) {
    tasks_.attentions += fused_attention_tasks(attention);
    return {fused_attention_tasks(attention),
            [&, this](Index task, int worker) { run_fused_attention_task(attention, task, room.of(worker)); }};
  }

  TaskPhase concat_of(const FusedAttention& attention, const Tensor& head_output) {
    return {fused_attention_tasks(attention), [&](Index task, int) {
              run_fused_concat_task(attention, head_output.values<float>().data(), task);
            }};
  }

  FusedAttention attention_of(const QueriesAt& q, Panels* concat, float* head_output, float* weights) {
    const ScoreScale scale = score_scale(options_);
    return {.kernels = kernels_,
            .options = options_,
            .scale = static_cast<float>(scale.factor()),
            .cap = static_cast<float>(scale.cap()),
            .masks = masks_ ? &*masks_ : nullptr,
            .batch = sizes_.batch,
            .queries = sizes_.queries,
            .all_keys = sizes_.all_keys,
            .heads = sizes_.heads,
            .kv_heads = sizes_.kv_heads,
            .head_dim = sizes_.head_dim,
            .v_head_dim = sizes_.v_head_dim,
            .q = q,
            .k = keys_.k,
            .v = keys_.v,
            .finite = keys_.finite,
            .searches_values = keys_.values_unsearched(),
            .gains = gains_.empty() ? nullptr : gains_.data(),
            .sinks = sinks_,
            .frozen = frozen_,
            .concat = concat,
            .head_output = head_output,
            .attn_weights = weights};
  }

  const FusedKernels& kernels_;
  int threads_;
  const AttentionSizes& sizes_;
  const AttentionOptions& options_;
  const TraceTensors& t_;
  const GivenMasks given_;
  FusedKeys keys_;
  FusedRowPath row_path_;
  FusedInputs inputs_{kernels_, sizes_.batch};
  std::vector<TensorPtr> held_;            // what tasks read: rows before and after a past
  TensorPtr q_rows_, k_rows_, v_rows_;     // after an earlier run, or if rows are rotated; else null
  std::optional<FusedProjection> values_;  // nullopt if they are given
  Index before_values_ = 0;                // tasks before theirs in the phase
  Panels q_, gate_, concat_;
  std::optional<RowMasks> masks_;
  std::vector<float> gains_;
  const std::vector<double> sinks_;
  std::vector<FrozenHead> frozen_;
  FusedTasks tasks_;
  FusedScratch projecting_{threads_, fused_projection_scratch()};
};

TracePtr latent_forward(const std::shared_ptr<Trace>& trace, const AttentionSizes& sizes, int threads,
                        const FusedRun& run) {
  add_numbers_of_heads(*trace, nullptr);
  TraceTensors& t = trace->tensors;
  const AttentionOptions& options = trace->options;
  TraceTensors made = t;
  make_latent_heads(made, options, sizes);
  LatentHeads heads = latent_heads(made, options, sizes);
  std::optional<Tensor> weights;
  if (run.keep_attn_weights) weights = Tensor::unwritten(sizes.scores_shape(), DType::f32);
  const TensorId id = sum_of_values(options);
  Tensor sum = Tensor::unwritten(computed_shape(id, options, sizes), DType::f32);
  FusedForward forward(fused_kernels(), threads, heads.sizes, heads.options, heads.tensors);
  forward.run_heads(weights ? weights->values<float>().data() : nullptr, sum.values<float>().data());
  made.*(tensor_entry(id).member) = shared(std::move(sum));
  make_latent_output(made, options, sizes);
  if (run.tasks) *run.tasks = forward.tasks();
  if (run.keep_projections) {
    t.q = made.q;
    t.compressed_kv = made.compressed_kv;
    t.k_rot = made.k_rot;
  }
  if (weights) keep_attn_weights(t, options, *std::move(weights));
  if (run.keep_head_output) t.head_output = made.head_output;
  t.output = made.output;
  add_and_norm(t, options);
  return trace;
}

}  // namespace

std::string fused_refusal(const AttentionInputs& inputs) {
  return f32_backend_refusal(inputs, "fused");
}

TracePtr fused_forward(const AttentionInputs& inputs, const FusedRun& run) {
  check_attention_inputs(inputs);
  if (const std::string reason = fused_refusal(inputs); !reason.empty())
    throw Error(ExitStatus::usage, {.where = "fused", .what = reason, .remedy = "use --backend reference"});
  const int threads = run.threads > 0 ? run.threads : available_threads();
  const AttentionSizes sizes = attention_sizes(inputs);

  const auto trace = begun_trace(inputs);
  trace->warnings = option_warnings(*trace);
  TraceTensors& t = trace->tensors;
  const AttentionOptions& options = trace->options;
  if (is_latent(options)) return latent_forward(trace, sizes, threads, run);
  const bool module = projects(options.op);
  const FusedTakeover kept =
      module ? fused_takeover(run.before.get(), inputs, run.keep_attn_weights) : FusedTakeover{};
  // Memory of a tensor that this run computes; null if it is not requested, or is reused.
  const auto made = [](std::optional<Tensor>& tensor, bool wanted, const Shape& shape) -> float* {
    if (!wanted) return nullptr;
    tensor = Tensor::unwritten(shape, DType::f32);
    return tensor->values<float>().data();
  };
  std::optional<Tensor> weights, head_output, output;
  float* const to_weights = made(weights, run.keep_attn_weights && !kept.head_output, sizes.scores_shape());
  float* const to_head_output = made(head_output, !module || (run.keep_head_output && !kept.head_output),
                                     computed_shape(TensorId::head_output, options, sizes));
  float* const to_output =
      made(output, module && !kept.output, computed_shape(TensorId::output, options, sizes));
  if (run.tasks) *run.tasks = {};
  if (kept.output) {
    t.output = kept.output;
  } else {
    FusedForward forward(fused_kernels(), threads, sizes, options, t);
    module ? forward.run_module(to_weights, to_head_output, to_output, kept)
           : forward.run_heads(to_weights, to_head_output);
    if (module && run.keep_projections && !kept.head_output) forward.keep_projections(t);
    if (run.tasks) *run.tasks = forward.tasks();
  }
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
  add_and_norm(t, options);
  return trace;
}

}  // namespace headwise
