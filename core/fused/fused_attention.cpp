#include "core/fused/fused_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/attention/softmax.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// Keys of a strip: with 64 queries their scores are 132 KiB, their values at a head width of 64 as much: half
// of the smallest L2 cache of today. Longer sums cost less than exceeding the L1 cache.
constexpr Index keys_at_once = 512;
// Padding between two rows of scores, so that they do not all map to the same cache sets.
constexpr Index row_gap = 16;
constexpr Index dropped_step = keys_at_once + row_gap;
constexpr Index rows_at_once = panel_lanes;

// One panel of queries of one head: queries [first, first + rows).
struct QueryPlace {
  Index n, h, p, first, rows;
};

// And the worker's buffers.
struct PanelTask : QueryPlace {
  Index g;
  float* scores;                     // [64][step]
  float* dropped;                    // [64][dropped_step], if there is dropout
  float* bias;                       // [keys_at_once]
  float* sums;                       // [64][v.step]
  float* totals;                     // [64][16]
  float* largest;                    // [64][16]
  float *maximum, *shrink, *factor;  // [64]
  // [strips][64], if the weights are kept: per strip, the `maximum` at that time, later the factor of its weights; and `shrink`.
  float *maxima, *shrinks;
  Index step;
  bool reads_masked, adds;
  std::array<KeyReach, rows_at_once> reach;
  Index from, to;  // the keys that any of the queries looks at, `from` at the beginning of a strip
};

// The keys of a strip that each query looks at, relative to the strip's first.
struct StripReach {
  std::int32_t begin[rows_at_once], end[rows_at_once];
  bool all;      // every query looks at every key
  Index shared;  // every query looks at the keys before this one
};

Index strips_of(const FusedAttention& a) {
  return whole_parts(a.all_keys, keys_at_once);
}

// Floats from one row of scores to the next: all keys if the weights are kept, else a strip.
Index score_step(const FusedAttention& a) {
  return (a.attn_weights ? strips_of(a) * keys_at_once : keys_at_once) + row_gap;
}

QueryPlace query_place(const FusedAttention& a, Index task) {
  const Index panels = whole_parts(a.queries, panel_lanes);
  const Index p = panels - 1 - task % panels;  // with a causal mask, the last queries look at the most keys
  const auto [n, h] = fused_attention_head(a, task);
  return {n, h, p, p * panel_lanes, std::min(panel_lanes, a.queries - p * panel_lanes)};
}

const float* queries_of_task(const FusedAttention& a, const PanelTask& t) {
  return a.q.first + t.n * a.q.batch + t.h * a.q.head + t.p * a.q.panel;
}

bool finite_queries(const FusedAttention& a, const PanelTask& t) {
  const float* const first = queries_of_task(a, t);
  if (a.q.depth != 1) return a.kernels.finite(first, a.head_dim * panel_lanes);
  if (a.q.row == a.head_dim) return a.kernels.finite(first, t.rows * a.head_dim);
  bool finite = true;
  for (Index r = 0; r < t.rows; ++r) finite = a.kernels.finite(first + r * a.q.row, a.head_dim) && finite;
  return finite;
}

// With `reads_masked`, every query looks at every key: what a mask blocks is not finite, and matters.
// `scratch` as in run_fused_attention_task.
PanelTask panel_task(const FusedAttention& a, Index task, float* scratch, bool reads_masked) {
  PanelTask t{};
  static_cast<QueryPlace&>(t) = query_place(a, task);
  t.g = t.h / (a.heads / a.kv_heads);
  t.step = score_step(a);
  const auto take = [&](Index size) {
    scratch += size;
    return scratch - size;
  };
  t.scores = take(rows_at_once * t.step);
  t.dropped = take(a.options.dropout > 0.0 ? rows_at_once * dropped_step : 0);
  t.bias = take(keys_at_once);
  t.sums = take(rows_at_once * a.v.step);
  t.totals = take(rows_at_once * widest_vector);
  t.largest = take(rows_at_once * widest_vector);
  t.maximum = take(rows_at_once);
  t.shrink = take(rows_at_once);
  t.factor = take(rows_at_once);
  t.maxima = take(a.attn_weights ? strips_of(a) * rows_at_once : 0);
  t.shrinks = take(a.attn_weights ? strips_of(a) * rows_at_once : 0);
  std::fill_n(t.totals, rows_at_once * widest_vector, 0.0f);
  std::fill_n(t.maximum, rows_at_once, -infinity);
  if (!a.sinks.empty()) {
    std::fill_n(t.maximum, rows_at_once, sink_maximum(a.sinks[static_cast<std::size_t>(t.h)]));
    for (Index r = 0; r < rows_at_once; ++r) t.totals[r * widest_vector] = 1.0f;
  }

  t.reads_masked = reads_masked;
  t.adds = a.masks && a.masks->adds(t.reads_masked);
  t.from = a.all_keys;
  for (Index r = 0; r < t.rows; ++r) {
    KeyReach& reach = t.reach[static_cast<std::size_t>(r)];
    reach = a.masks && !t.reads_masked ? a.masks->reach(t.n, t.first + r) : KeyReach{0, a.all_keys};
    if (reach.to <= reach.from) continue;
    t.from = std::min(t.from, reach.from);
    t.to = std::max(t.to, reach.to);
  }
  t.from = std::min(t.from, t.to) / keys_at_once * keys_at_once;
  return t;
}

StripReach reach_of(const PanelTask& t, Index from, Index count) {
  StripReach reach;
  reach.all = true;
  reach.shared = count;
  for (Index r = 0; r < t.rows; ++r) {
    const KeyReach row = t.reach[static_cast<std::size_t>(r)];
    reach.begin[r] = static_cast<std::int32_t>(std::clamp<Index>(row.from - from, 0, count));
    reach.end[r] = static_cast<std::int32_t>(std::clamp<Index>(row.to - from, 0, count));
    reach.all = reach.all && reach.begin[r] == 0 && reach.end[r] == count;
    reach.shared = std::min<Index>(reach.shared, reach.begin[r] == 0 ? reach.end[r] : 0);
  }
  return reach;
}

// Whether the softmax can use the scores as the product leaves them.
bool are_only_scaled(const FusedAttention& a, const PanelTask& t) {
  return a.cap == 0.0f && !t.adds && a.scale > 0.0f;
}

// Scores of a strip as input to the softmax, with nothing left to multiply.
void adjust_scores(const FusedAttention& a, const PanelTask& t, float* scores, Index from, Index count) {
  const bool fills = a.options.mask_value.has_value();
  const auto fill = static_cast<float>(a.options.mask_value.value_or(0.0));
  for (Index r = 0; r < t.rows; ++r) {
    float* const row = scores + r * t.step;
    if (a.cap > 0.0f) {
      for (Index i = 0; i < count; ++i) row[i] = a.cap * std::tanh(row[i] * a.scale / a.cap);
    }
    if (t.adds) a.masks->fill(t.n, t.h, t.first + r, from, from + count, t.bias);
    a.kernels.adjust(row, count, a.cap > 0.0f ? 1.0f : a.scale, t.adds ? t.bias : nullptr,
                     fills ? &fill : nullptr);
  }
}

// The strip's weights times its values; the product also writes the weights to memory if they are requested.
FusedProduct weighted_sum_of(const FusedAttention& a, const PanelTask& t, const float* weights, Index from,
                             Index count) {
  FusedProduct product{.left = weights,
                       .left_row = t.step,
                       .left_depth = 1,
                       .right = a.v.row(t.n, t.g, from),
                       .right_panel = panel_lanes,
                       .right_depth = a.v.step,
                       .out = t.sums,
                       .out_row = a.v.step,
                       .rows = t.rows,
                       .columns = a.v.width,
                       .depth = count};
  if (a.attn_weights) {
    product.kept = a.attn_weights + ((t.n * a.heads + t.h) * a.queries + t.first) * a.all_keys + from;
    product.kept_row = a.all_keys;
    product.kept_factor = t.maxima + from / keys_at_once * rows_at_once;
  }
  return product;
}

// Applies dropout to the weights that a product reads; the ones written to memory stay undropped.
void drop_weights(const FusedAttention& a, const PanelTask& t, Index from, FusedProduct& product) {
  for (Index r = 0; product.kept && r < t.rows; ++r)
    a.kernels.write(product.left + r * t.step, product.depth, product.kept_factor[r],
                    product.kept + r * product.kept_row);
  product.kept = nullptr;
  for (Index r = 0; r < t.rows; ++r) {
    const Index first_cell = ((t.n * a.heads + t.h) * a.queries + t.first + r) * a.all_keys + from;
    for (Index i = 0; i < product.depth; ++i) {
      const double kept = dropout_factor(a.options.dropout, a.options.dropout_seed, first_cell + i);
      t.dropped[r * dropped_step + i] = product.left[r * t.step + i] * static_cast<float>(kept);
    }
  }
  product.left = t.dropped;
  product.left_row = dropped_step;
}

float* scores_of(const FusedAttention& a, const PanelTask& t, Index from) {
  return t.scores + (a.attn_weights ? from : 0);
}

// Scores of a strip and their softmax, not yet divided by its sum.
void weigh_strip(const FusedAttention& a, const PanelTask& t, Index from, Index count, const StripReach& reach) {
  const bool only_scaled = are_only_scaled(a, t);
  // If keys need no adjustment for any query, the product finds the largest score along the way.
  const bool whole = only_scaled && reach.all && count % widest_vector == 0;
  const Index found = whole ? count : only_scaled ? reach.shared / panel_lanes * panel_lanes : 0;
  float* const scores = scores_of(a, t, from);
  if (found > 0) std::fill_n(t.largest, rows_at_once * widest_vector, -infinity);
  a.kernels.multiply({.left = queries_of_task(a, t),
                      .left_row = a.q.row,
                      .left_depth = a.q.depth,
                      .right = a.k.panel(t.n, t.g, from / panel_lanes),
                      .right_panel = a.k.size,
                      .right_depth = panel_lanes,
                      .out = scores,
                      .out_row = t.step,
                      .rows = t.rows,
                      .columns = count,
                      .depth = a.head_dim,
                      .column_reach = whole ? nullptr : reach.end,
                      .largest = found > 0 ? t.largest : nullptr,
                      .largest_columns = found,
                      .prefetch = a.v.row(t.n, t.g, from),
                      .prefetch_count = count * a.v.step});
  if (!only_scaled) adjust_scores(a, t, scores, from, count);
  a.kernels.softmax({.scores = scores,
                     .step = t.step,
                     .rows = t.rows,
                     .columns = count,
                     .from = reach.begin,
                     .to = reach.end,
                     .scale = only_scaled ? a.scale : 1.0f,
                     .maximum = t.maximum,
                     .shrink = t.shrink,
                     .sums = t.totals,
                     .largest = t.largest,
                     .largest_columns = found});
}

// Adds the strip's values, weighted; earlier sums are multiplied by `shrink`.
void add_values(const FusedAttention& a, const PanelTask& t, Index from, Index count, const StripReach& reach,
                const float* shrink) {
  FusedProduct sum = weighted_sum_of(a, t, scores_of(a, t, from), from, count);
  if (a.options.dropout > 0.0) drop_weights(a, t, from, sum);
  sum.depth_reach = reach.all ? nullptr : reach.end;
  if (from > t.from) {
    sum.begin = Begin::factor;
    sum.by_row = shrink;
  }
  if (from + count < t.to) {
    sum.prefetch = a.k.panel(t.n, t.g, (from + count) / panel_lanes);
    sum.prefetch_count = std::min(keys_at_once, t.to - from - count) * a.head_dim;
  }
  a.kernels.multiply(sum);
}

// The weights of a frozen head replace a strip's softmax; neither masks nor dropout apply to them.
void hold_strip(const FusedAttention& a, const PanelTask& t, const FrozenHead& frozen, Index from) {
  const Index count = std::min(keys_at_once, a.all_keys - from);
  const Index slices = frozen.weights->shape().size(1);
  float* const weights = scores_of(a, t, from);
  dispatch_float(frozen.weights->dtype(), [&]<class T>() {
    const T* const held = frozen.weights->values<T>().data();
    for (Index r = 0; r < t.rows; ++r) {
      const T* const row = held + ((t.n * slices + frozen.slice) * a.queries + t.first + r) * a.all_keys + from;
      for (Index i = 0; i < count; ++i) weights[r * t.step + i] = static_cast<float>(row[i]);
    }
  });
  if (a.attn_weights) std::fill_n(t.maxima + from / keys_at_once * rows_at_once, rows_at_once, 1.0f);
  FusedProduct sum = weighted_sum_of(a, t, weights, from, count);
  if (from > 0) sum.begin = Begin::add;
  a.kernels.multiply(sum);
}

// 1 over the sum of each row's weights.
void finish_rows(const FusedAttention& a, const PanelTask& t) {
  for (Index r = 0; r < t.rows; ++r) {
    float sum = 0.0f;
    for (Index lane = 0; lane < widest_vector; ++lane) sum += t.totals[r * widest_vector + lane];
    const bool nothing = sum == 0.0f;
    const bool zero = a.options.fully_masked_rows == FullyMaskedRows::zero;
    t.factor[r] = !nothing ? 1.0f / sum : zero ? 0.0f : std::numeric_limits<float>::quiet_NaN();
  }
}

// Replaces the maxima by the factors that make the weights of all strips comparable and divide them by the
// sum.
void finish_strips(const FusedAttention& a, const PanelTask& t) {
  for (Index from = t.from; from < t.to; from += keys_at_once) {
    float* const of_strip = t.maxima + from / keys_at_once * rows_at_once;
    for (Index r = 0; r < rows_at_once; ++r)
      of_strip[r] = of_strip[r] == t.maximum[r] ? 0.0f : of_strip[r] - t.maximum[r];
    a.kernels.power_of_two(of_strip, rows_at_once, of_strip);
    for (Index r = 0; r < t.rows; ++r) of_strip[r] *= t.factor[r];
  }
}

// Keys in no strip get 0, or NaN if the row is NaN.
void fill_unvisited_keys(const FusedAttention& a, const PanelTask& t) {
  for (Index r = 0; r < t.rows; ++r) {
    float* const row = a.attn_weights + ((t.n * a.heads + t.h) * a.queries + t.first + r) * a.all_keys;
    a.kernels.write(nullptr, std::min(t.from, t.to), t.factor[r], row);
    a.kernels.write(nullptr, a.all_keys - t.to, t.factor[r], row + t.to);
  }
}

// If the weights are kept, all strips are weighed before the first values are added: then the divisor of each
// weight is known, and the product that reads it also writes it to memory.
void attend(const FusedAttention& a, const PanelTask& t) {
  for (Index from = t.from; from < t.to; from += keys_at_once) {
    check_cancelled();
    const Index count = std::min(keys_at_once, t.to - from);
    const StripReach reach = reach_of(t, from, count);
    weigh_strip(a, t, from, count, reach);
    if (a.attn_weights) {
      std::copy_n(t.maximum, rows_at_once, t.maxima + from / keys_at_once * rows_at_once);
      std::copy_n(t.shrink, rows_at_once, t.shrinks + from / keys_at_once * rows_at_once);
    } else {
      add_values(a, t, from, count, reach, t.shrink);
    }
  }
  finish_rows(a, t);
  if (!a.attn_weights) return;
  finish_strips(a, t);
  for (Index from = t.from; from < t.to; from += keys_at_once) {
    check_cancelled();
    const Index count = std::min(keys_at_once, t.to - from);
    add_values(a, t, from, count, reach_of(t, from, count), t.shrinks + from / keys_at_once * rows_at_once);
  }
}

// A head's part of a panel of concat, from `rows` times `by_row` (null: 1). The gain comes after it, so that
// head_output times the gain has the same bits.
void concat_head(const FusedAttention& a, const QueryPlace& at, const float* rows, Index step,
                 const float* by_row) {
  float* const to = a.concat->panel(at.n, at.p) + at.h * a.v_head_dim * panel_lanes;
  for (Index d = 0; at.rows < panel_lanes && d < a.v_head_dim; ++d)
    std::fill_n(to + d * panel_lanes, panel_lanes, 0.0f);
  a.kernels.transpose(rows, step, at.rows, a.v_head_dim, by_row, to, panel_lanes);
  if (a.gains)
    std::ranges::transform(std::span(to, static_cast<std::size_t>(a.v_head_dim * panel_lanes)), to,
                           [gain = a.gains[at.h]](float x) { return x * gain; });
}

void attend_frozen(const FusedAttention& a, PanelTask& t, const FrozenHead& frozen) {
  t.from = 0;
  t.to = a.all_keys;
  for (Index from = 0; from < a.all_keys; from += keys_at_once) {
    check_cancelled();
    hold_strip(a, t, frozen, from);
  }
  std::fill_n(t.factor, rows_at_once, 1.0f);
}

// Whether masked keys must be read too, because a NaN or an infinity may be among them.
bool must_read_masked(const FusedAttention& a) {
  return a.masks && !a.finite.load(std::memory_order_relaxed);
}

// A task's share of the values not checked yet: of each head's, the panels p, p + P … if it is one of P
// panels of queries. With a causal mask it has just read these values.
void search_values(const FusedAttention& a, const PanelTask& t) {
  if (t.h % (a.heads / a.kv_heads) != 0) return;
  const Index panels = whole_parts(a.queries, panel_lanes);
  for (Index first = t.first; first < a.all_keys; first += panels * panel_lanes) {
    const Index count = std::min(panel_lanes, a.all_keys - first);
    if (!a.kernels.finite(a.v.row(t.n, t.g, first), count * a.v.step))
      a.finite.store(false, std::memory_order_relaxed);
  }
}

// The panel's weighted sums and their divisors.
PanelTask attended(const FusedAttention& a, Index task, float* scratch, bool reads_masked) {
  PanelTask t = panel_task(a, task, scratch, reads_masked);
  const FrozenHead frozen = a.frozen.empty() ? FrozenHead{} : a.frozen[static_cast<std::size_t>(t.h)];
  if (t.from >= t.to) std::fill_n(t.sums, rows_at_once * a.v.step, 0.0f);
  if (frozen.weights) {
    attend_frozen(a, t, frozen);
  } else {
    attend(a, t);
  }
  return t;
}

}  // namespace

Index fused_attention_tasks(const FusedAttention& attention) {
  return attention.batch * attention.heads * whole_parts(attention.queries, panel_lanes);
}

Index fused_attention_tasks_until(const FusedAttention& a, Index n, Index panel) {
  const Index panels = whole_parts(a.queries, panel_lanes);
  return ((n + 1) * a.heads - 1) * panels + panels - panel;
}

HeadPlace fused_attention_head(const FusedAttention& a, Index task) {
  const Index head = task / whole_parts(a.queries, panel_lanes);
  return {head / a.heads, head % a.heads};
}

void run_fused_attention_task(const FusedAttention& a, Index task, float* scratch) {
  const bool reads_masked = must_read_masked(a);
  PanelTask t = attended(a, task, scratch, reads_masked);
  // Queries are checked once the products have brought them into the L1 cache,
  // because they are almost always finite.
  if (a.masks && !reads_masked && !finite_queries(a, t)) t = attended(a, task, scratch, true);
  if (a.searches_values) search_values(a, t);
  if (a.attn_weights) {
    fill_unvisited_keys(a, t);
    a.kernels.written();
  }
  if (a.concat) concat_head(a, t, t.sums, a.v.step, t.factor);
  if (a.head_output) {
    float* const to = a.head_output + ((t.n * a.heads + t.h) * a.queries + t.first) * a.v_head_dim;
    for (Index r = 0; r < t.rows; ++r)
      a.kernels.write(t.sums + r * a.v.step, a.v_head_dim, t.factor[r], to + r * a.v_head_dim);
    a.kernels.written();
  }
}

void run_fused_concat_task(const FusedAttention& a, const float* head_output, Index task) {
  const QueryPlace at = query_place(a, task);
  concat_head(a, at, head_output + ((at.n * a.heads + at.h) * a.queries + at.first) * a.v_head_dim,
              a.v_head_dim, nullptr);
}

Index fused_attention_scratch(const FusedAttention& a) {
  return rows_at_once * (score_step(a) + a.v.step + 2 * widest_vector + 3) + keys_at_once +
         (a.options.dropout > 0.0 ? rows_at_once * dropped_step : 0) +
         (a.attn_weights ? 2 * strips_of(a) * rows_at_once : 0);
}

}  // namespace headwise
