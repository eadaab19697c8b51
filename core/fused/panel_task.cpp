#include "core/fused/panel_task.h"

#include <algorithm>
#include <limits>

namespace headwise {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// Floats from one row of scores to the next: all keys if the weights are kept, else a strip.
Index score_step(const FusedAttention& a) {
  return (a.attn_weights ? strips_of(a) * keys_at_once : keys_at_once) + row_gap;
}

}  // namespace

Index strips_of(const FusedAttention& a) {
  return whole_parts(a.all_keys, keys_at_once);
}

Index fused_attention_scratch(const FusedAttention& a) {
  return rows_at_once * (score_step(a) + a.v.step + 2 * widest_vector + 3) + keys_at_once +
         (a.options.dropout > 0.0 ? rows_at_once * dropped_step : 0) +
         (a.attn_weights ? 2 * strips_of(a) * rows_at_once : 0);
}

QueryPlace query_place(const FusedAttention& a, Index task) {
  const Index panels = whole_parts(a.queries, panel_lanes);
  const Index p = panels - 1 - task % panels;  // with a causal mask, the last queries look at the most keys
  const auto [n, h] = fused_attention_head(a, task);
  return {n, h, p, p * panel_lanes, std::min(panel_lanes, a.queries - p * panel_lanes)};
}

const float* queries_of(const FusedAttention& a, const PanelTask& t) {
  return a.q.first + t.n * a.q.batch + t.h * a.q.head + t.p * a.q.panel;
}

bool finite_queries(const FusedAttention& a, const PanelTask& t) {
  const float* const first = queries_of(a, t);
  if (a.q.depth != 1) return a.kernels.finite(first, a.head_dim * panel_lanes);
  if (a.q.row == a.head_dim) return a.kernels.finite(first, t.rows * a.head_dim);
  bool finite = true;
  for (Index r = 0; r < t.rows; ++r) finite = a.kernels.finite(first + r * a.q.row, a.head_dim) && finite;
  return finite;
}

PanelTask panel_task(const FusedAttention& a, Index task, float* scratch, bool look_behind) {
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

  t.look_behind = look_behind;
  t.adds = a.masks && a.masks->adds(t.look_behind);
  t.from = a.all_keys;
  for (Index r = 0; r < t.rows; ++r) {
    KeyReach& reach = t.reach[static_cast<std::size_t>(r)];
    reach = a.masks && !t.look_behind ? a.masks->reach(t.n, t.first + r) : KeyReach{0, a.all_keys};
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

}  // namespace headwise
