#include "core/attention/reference_parts.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>

#include "core/attention/attention_mask.h"
#include "core/attention/check_attention_inputs.h"
#include "core/attention/indexer.h"
#include "core/attention/latent_attention.h"
#include "core/attention/multi_head_attention.h"
#include "core/attention/reference_backend.h"
#include "core/attention/relative_bias.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/score_path.h"
#include "core/attention/softmax.h"
#include "core/attention/trace_warnings.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/memory.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

using Id = TensorId;

// Up to 128 MiB an f32 trace is rounded from an exact one (rounded_trace.h), as a whole.
constexpr Index most_whole_bytes = Index{128} << 20;
// 32 Mi cells: a block of f32 is 128 MiB, and its products are large enough to keep the threads busy.
constexpr Index cells_of_block = Index{1} << 25;
constexpr Index blocks_at_once = 5;  // scores, scaled, masked, weights, dropped

constexpr std::initializer_list<Id> maps{Id::scores,         Id::scaled_scores, Id::mask_bias,
                                         Id::masked_scores,  Id::full_weights,  Id::attn_weights,
                                         Id::dropped_weights};

// What the needed tensors require of the pass.
struct Wanted {
  std::vector<TensorName> names;

  bool has(Id id) const { return std::ranges::find(names, TensorName{id}) != names.end(); }
  // Whether anything from `first` on is, in the order of computation.
  bool any_from(Id first) const {
    return std::ranges::any_of(names, [&](TensorName name) { return name.id >= first; });
  }
  bool pairs() const { return any_from(Id::scores); }
  bool softmax() const { return any_from(Id::attn_weights); }
  bool row_statistics() const { return has(Id::lse) || has(Id::sink_weights); }
  bool head_output() const {
    return std::ranges::any_of(names, [](TensorName name) {
      return name.id >= Id::latent_output && name.id != Id::attn_output_weights;
    });
  }
};

// Calls copy(place in x, place in rows, count) for rows [first, first + …) of each head of one batch entry:
// x (N,H,L,W) or (N,H,L), rows (1,H,count,W) or (1,H,count).
template <class Copy>
void each_heads_rows(const Shape& x, const Shape& rows, Index n, Index first, Copy&& copy) {
  const Index heads = x.size(1), length = x.size(2), width = x.rank() == 4 ? x.size(3) : 1;
  const Index cells = rows.size(2) * width;
  for (Index h = 0; h < heads; ++h) copy(((n * heads + h) * length + first) * width, h * cells, cells);
}

Tensor rows_of(const Tensor& x, Index n, Index first, Index count) {
  std::vector<Axis> axes = x.shape().axes();
  axes[0].size = 1;
  axes[2].size = count;
  Tensor rows = Tensor::unwritten(Shape(std::move(axes)), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    each_heads_rows(x.shape(), rows.shape(), n, first, [&](Index from, Index to, Index cells) {
      std::copy_n(x.values<T>().begin() + from, cells, rows.values<T>().begin() + to);
    });
  });
  return rows;
}

// A tensor that is filled row by row, if it is needed.
class Kept {
 public:
  Kept(bool wanted, const Shape& shape, DType dtype) {
    if (wanted) tensor_ = std::make_shared<Tensor>(Tensor::unwritten(shape, dtype));
  }
  void put(const Tensor& rows, Index n, Index first) const {
    if (!tensor_) return;
    dispatch_float(rows.dtype(), [&]<class T>() {
      each_heads_rows(tensor_->shape(), rows.shape(), n, first, [&](Index to, Index from, Index cells) {
        std::copy_n(rows.values<T>().begin() + from, cells, tensor_->values<T>().begin() + to);
      });
    });
  }
  TensorPtr tensor() const { return tensor_; }

 private:
  std::shared_ptr<Tensor> tensor_;
};

// From the factors of the scores to the weighted sum, one block of queries at a time.
class BlockedAttention final : public Stages {
 public:
  BlockedAttention(Trace& trace, const Wanted& wanted, const AttentionSizes& sizes, Index block_cells)
      : trace_(trace),
        wanted_(wanted),
        s_(sizes),
        options_(trace.options),
        softmax_(wanted.softmax()),
        drops_(options_.dropout > 0.0 && static_cast<Index>(options_.frozen_heads.size()) < sizes.heads),
        rows_(std::clamp<Index>(block_cells / std::max<Index>(1, sizes.heads * sizes.all_keys), 1,
                                std::max<Index>(1, sizes.queries))),
        masked_(has_any_mask(options_, given_masks(trace.tensors))) {}

  void run() {
    require_memory(bytes(), "the trace");
    make_mask_bias();
    TraceTensors& t = trace_.tensors;
    values_ = values_of_sum(t);
    if (values_->shape().rank() == 3) values_ = std::make_shared<const Tensor>(as_one_head(*values_));
    // If a stage changes nothing, both names hold the same tensor.
    const auto keep = [&](Id id, bool wanted) {
      kept_.try_emplace(id, wanted, computed_shape(id, options_, s_), trace_.dtype);
    };
    const bool whole_weights = returns_weights() && !returns_mean();
    const bool dropped = wanted_.has(Id::dropped_weights) || whole_weights;
    keep(Id::scores, wanted_.has(Id::scores));
    keep(Id::scaled_scores, wanted_.has(Id::scaled_scores) || (!masked_ && wanted_.has(Id::masked_scores)));
    keep(Id::masked_scores, masked_ && wanted_.has(Id::masked_scores));
    for (const Id id : {Id::lse, Id::sink_weights}) keep(id, wanted_.has(id) && (id == Id::lse || t.sinks));
    keep(Id::full_weights, options_.indexer && wanted_.has(Id::full_weights));
    keep(Id::attn_weights, wanted_.has(Id::attn_weights) || (!drops_ && dropped));
    keep(Id::dropped_weights, drops_ && dropped);
    keep(sum_of_values(options_), wanted_.head_output());
    const Kept mean(returns_mean(),
                    Shape{{"N", s_.batch}, {"1", 1}, {"L", s_.queries}, {s_.key_axis(), s_.all_keys}},
                    trace_.dtype);
    const Index blocks = (s_.queries + rows_ - 1) / rows_;
    for (n_ = 0; n_ < s_.batch; ++n_) {
      block_ = t;
      for (TensorPtr* made :
           {&block_.q_normed, &block_.k_normed, &block_.q_rotary, &block_.k_rotary, &block_.present_key,
            &block_.present_value, &block_.q_absorbed, &block_.k_absorbed})
        *made = nullptr;
      block_.k_heads = rows_of(keys_of_scores(t, options_), 0, s_.all_keys);
      block_.v_heads = rows_of(values_, 0, s_.all_keys);
      for (first_ = 0; first_ < s_.queries; first_ += rows_) {
        check_cancelled();
        const ProgressPart part = slice_of_work(n_ * blocks + first_ / rows_, s_.batch * blocks);
        const Index count = std::min(rows_, s_.queries - first_);
        block_.q_heads = rows_of(queries_of_scores(t, options_), first_, count);
        if (masked_) block_.mask_bias = bias_rows(bias_, count);
        if (t.frozen_weights) block_.frozen_weights = rows_of(t.frozen_weights, first_, count);
        AttentionSizes sizes = s_;
        sizes.batch = 1;
        sizes.queries = count;
        ForwardPass pass{block_, options_, sizes, trace_.dtype, *this};
        scaled_dot_product_attention(pass);
        if (mean.tensor())
          mean.put(average_over_heads(*block_.dropped_weights)
                       .reshaped({{"N", 1}, {"1", 1}, {"L", count}, {s_.key_axis(), s_.all_keys}}),
                   n_, first_);
      }
    }
    for (const auto& [id, kept] : kept_) t.*(tensor_entry(id).member) = kept.tensor();
    if (!masked_) t.masked_scores = t.scaled_scores;
    if (!drops_) t.dropped_weights = t.attn_weights;
    if (wanted_.has(Id::mask_bias)) t.mask_bias = bias_;
    if (mean.tensor()) {
      t.attn_output_weights = std::make_shared<const Tensor>(
          mean.tensor()->reshaped({{"N", s_.batch}, {"L", s_.queries}, {s_.key_axis(), s_.all_keys}}));
    } else if (whole_weights) {
      t.attn_output_weights = t.dropped_weights;
    }
    std::ranges::sort(blocked_rows_);
  }

  const std::vector<Index>& blocked_rows() const { return blocked_rows_; }

 private:
  // Whether attn_output_weights are requested, as returned by the module: the mean over the heads,
  // or all of them.
  bool returns_weights() const {
    return wanted_.has(Id::attn_output_weights) && projects(options_.op) && options_.need_weights;
  }
  bool returns_mean() const { return returns_weights() && options_.average_attn_weights; }

  // What is kept, and what a block needs at a time.
  Index bytes() const {
    const Index map = s_.scores_shape().element_count();
    Index kept = 0;
    for (const Id id : maps) {
      const bool same = (id == Id::masked_scores && !masked_) || (id == Id::dropped_weights && !drops_) ||
                        (id == Id::full_weights && !options_.indexer);
      kept += wanted_.has(id) && !same ? 1 : 0;
    }
    if (masked_ && !wanted_.has(Id::mask_bias) && by_head()) ++kept;
    const Index cells = checked_multiply(kept, map, "the trace") +
                        (masked_ && !by_head() ? map / std::max<Index>(1, s_.heads) : 0) +
                        blocks_at_once * rows_ * s_.heads * s_.all_keys +
                        s_.batch * s_.queries * s_.heads * s_.value_width();
    return checked_multiply(cells, static_cast<Index>(dtype_bytes(trace_.dtype)), "the trace");
  }

  // Whether the masks differ between heads.
  bool by_head() const {
    const TensorPtr& mask = trace_.tensors.attn_mask;
    return options_.alibi || options_.relative_bias || (mask && mask->shape().rank() > 2) ||
           wanted_.has(Id::mask_bias);
  }

  void make_mask_bias() {
    if (!masked_) return;
    const TraceTensors& t = trace_.tensors;
    std::vector<Axis> axes = s_.scores_shape().axes();
    if (!by_head()) axes[1].size = 1;
    const ProgressPart part(0.0, 0.1, "mask_bias");
    // Which keys are chosen is decided by exact scores, as where a trace is rounded from an exact one.
    const TensorPtr exact_scores = exact_indexer_scores(options_, t);
    GivenMasks given = given_masks(t);
    given.indexer_scores = exact_scores.get();
    const Shape shape(std::move(axes));
    bias_ = std::make_shared<const Tensor>(merge_masks(options_, given, shape, s_.keys, trace_.dtype));
    if (options_.indexer && wanted_.has(Id::full_weights))
      full_bias_ = std::make_shared<const Tensor>(
          merge_masks(without_indexer(options_), given, shape, s_.keys, trace_.dtype));
    if (options_.relative_bias && wanted_.has(Id::position_bias))
      trace_.tensors.position_bias = std::make_shared<const Tensor>(position_bias(
          *options_.relative_bias, *t.relative_bias_weight, computed_shape(Id::position_bias, options_, s_),
          s_.keys, causal_offset(options_, s_.queries, s_.keys)));
  }

  // One of the maps of a block, or its output.
  void take(Stage stage) override {
    const Id id = stage.id;
    if (is_row_statistic(id)) {  // what they are made of is still read behind them
      if (!wanted_.row_statistics()) return;
      name(id, nullptr, std::make_shared<const Tensor>(stage.compute()));
      return kept_.at(id).put(*(block_.*(tensor_entry(id).member)), n_, first_);
    }
    if (id == Id::full_weights) {
      if (!wanted_.has(id)) return;
      return kept_.at(id).put(
          full_weights(*block_.scaled_scores, *bias_rows(full_bias_, block_.scaled_scores->shape().size(2)),
                       options_, block_.sinks.get(), block_.frozen_weights.get()),
          n_, first_);
    }
    if (id == Id::position_bias || id == Id::mask_bias || (!softmax_ && id > Id::masked_scores)) return;
    const bool sum = id == sum_of_values(options_);
    if (sum && !wanted_.head_output()) return;
    if (id == Id::attn_weights) collect_blocked_rows();
    Tensor rows = id == Id::dropped_weights ? dropped_rows() : stage.compute();
    kept_.at(id).put(rows, n_, first_);
    if (sum) return;
    for (const Id earlier : maps)  // nothing reads them any more
      if (earlier < id && !(earlier == Id::scaled_scores && id < Id::full_weights && full_bias_))
        block_.*(tensor_entry(earlier).member) = nullptr;
    name(id, nullptr, std::make_shared<const Tensor>(std::move(rows)));
  }
  void name(Id id, const TensorPtr&, const TensorPtr& tensor) override {
    block_.*(tensor_entry(id).member) = tensor;
  }

  TensorPtr rows_of(const TensorPtr& x, Index first, Index count) const {
    return std::make_shared<const Tensor>(headwise::rows_of(*x, n_, first, count));
  }

  // The rows of mask_bias for every head; rows common to all heads are repeated.
  TensorPtr bias_rows(const TensorPtr& bias, Index count) const {
    const TensorPtr rows = rows_of(bias, first_, count);
    if (rows->shape().size(1) == s_.heads) return rows;
    std::vector<Axis> axes = rows->shape().axes();
    axes[1].size = s_.heads;
    Tensor all = Tensor::unwritten(Shape(std::move(axes)), rows->dtype());
    dispatch_float(rows->dtype(), [&]<class T>() {
      for (Index h = 0; h < s_.heads; ++h)
        std::ranges::copy(rows->values<T>(), all.values<T>().begin() + h * rows->size());
    });
    return std::make_shared<const Tensor>(std::move(all));
  }

  // Blocked rows of the whole map, indexed as in fully_masked_rows.
  void collect_blocked_rows() {
    const Index count = block_.masked_scores->shape().size(2);
    for (const Index row : fully_masked_rows(*block_.masked_scores))
      blocked_rows_.push_back((n_ * s_.heads + row / count) * s_.queries + first_ + row % count);
  }

  // Which weights are dropped depends on their place in the whole map.
  Tensor dropped_rows() const {
    const Tensor& weights = *block_.attn_weights;
    Tensor dropped = Tensor::unwritten(weights.shape(), weights.dtype());
    const Index cells = weights.size() / std::max<Index>(1, s_.heads);
    for (Index h = 0; h < s_.heads; ++h) {
      const Index from = ((n_ * s_.heads + h) * s_.queries + first_) * s_.all_keys;
      drop_cells(weights, dropped, h * cells, cells, options_.dropout, options_.dropout_seed, from);
    }
    if (options_.frozen_heads.empty()) return dropped;
    return with_frozen_heads(std::move(dropped), *block_.frozen_weights, options_.frozen_heads);
  }

  Trace& trace_;
  const Wanted& wanted_;
  const AttentionSizes& s_;
  const AttentionOptions& options_;
  const bool softmax_, drops_;
  const Index rows_;  // of a block
  const bool masked_;
  TensorPtr values_;     // (N,G,S′,Dv)
  TensorPtr bias_;       // (N,H,L,S′), or (N,1,L,S′) if it is the same for all heads
  TensorPtr full_bias_;  // the same without the indexer's choice, if full_weights is wanted
  std::map<Id, Kept> kept_;
  TraceTensors block_;       // the tensors of the block
  Index n_ = 0, first_ = 0;  // its batch entry and its first query
  std::vector<Index> blocked_rows_;
};

bool has_gradient(const std::vector<TensorName>& needed) {
  return std::ranges::any_of(needed, &TensorName::gradient);
}

}  // namespace

TracePtr reference_forward_of(const AttentionInputs& inputs, const std::vector<TensorName>& needed) {
  return reference_forward_of(inputs, needed, most_whole_bytes, cells_of_block);
}

TracePtr reference_forward_of(const AttentionInputs& inputs, const std::vector<TensorName>& needed,
                              Index whole_bytes, Index block_cells) {
  check_attention_inputs(inputs);
  if (needed.empty() || has_gradient(needed) || reference_trace_bytes(inputs) <= whole_bytes)
    return forward_of_checked(inputs, nullptr);
  const Wanted wanted{needed};
  const AttentionSizes sizes = attention_sizes(inputs);
  const bool module = projects(inputs.options.op);
  const auto trace = begun_trace(inputs);
  add_numbers_of_heads(*trace, nullptr);
  TraceTensors& t = trace->tensors;
  StageCache cache(*trace, nullptr);
  ForwardPass pass{t, trace->options, sizes, trace->dtype, cache};
  // Query-key pairs are nearly all of the work.
  std::optional<ProgressPart> part(std::in_place, 0.0, 0.05);
  make_heads(pass);
  score_keys(pass);
  BlockedAttention attention(*trace, wanted, sizes, block_cells);
  part.emplace(0.05, 0.95, "attn_weights");
  if (wanted.pairs()) attention.run();
  part.emplace(0.95, 1.0);
  if (module && wanted.head_output()) {
    expand_latent_output(pass);
    merge_and_project(pass);
    add_and_norm(pass);
  } else if (!module) {
    t.output = t.head_output;
  }
  trace->warnings = trace_warnings(*trace, attention.blocked_rows(), sizes.scores_shape());
  return trace;
}

Index needed_maps(const std::vector<TensorName>& needed) {
  const Wanted wanted{needed};
  return std::ranges::count_if(maps, [&](Id id) {
    const bool may_be_same = id == Id::masked_scores || id == Id::dropped_weights || id == Id::mask_bias;
    return wanted.has(id) && !may_be_same;
  });
}

bool needs_only_inputs(const std::vector<TensorName>& needed) {
  return !needed.empty() && std::ranges::all_of(needed, [](TensorName name) {
    const bool input = name.id <= Id::past_k_rot;
    return !name.gradient && (input || tensor_entry(name.id).role == TensorRole::mask);
  });
}

}  // namespace headwise
