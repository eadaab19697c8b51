#include "core/fused/fused_keys.h"

#include <algorithm>

#include "core/tensor/cancellation.h"

namespace headwise {

void FusedKeys::put_keys(const Tensor& heads, Index head, Index panel) {
  const Index D = sizes_.head_dim, first = panel * panel_lanes;
  const Index count = std::min(panel_lanes, sizes_.keys - first);
  const float* const rows = heads.values<float>().data() + (head * sizes_.keys + first) * D;
  fill_panel(kernels_, rows, count, D, D, k.panel(head / sizes_.kv_heads, head % sizes_.kv_heads, panel));
  if (asks_finite_) note(kernels_.finite(rows, count * D));
}

void FusedKeys::put_keys(const Tensor& heads, Index head) {
  for (Index panel = 0; panel < whole_parts(sizes_.keys, panel_lanes); ++panel) {
    check_cancelled();
    put_keys(heads, head, panel);
  }
}

TaskPhase FusedKeys::given_keys(const Tensor& heads) {
  const Index panels = whole_parts(sizes_.keys, panel_lanes);
  return {sizes_.batch * panels, [this, panels, &heads](Index task, int) {
            for (Index g = 0; g < sizes_.kv_heads; ++g)
              put_keys(heads, task / panels * sizes_.kv_heads + g, task % panels);
          }};
}

TaskPhase FusedKeys::kept_keys(const Tensor& rows_before) {
  return {sizes_.batch * k.count, [this, from = rows_before.values<float>().data()](Index task, int) {
            const Index n = task / k.count, p = task % k.count, width = k.heads * k.width;
            const float* const rows = from + (n * k.tokens + p * panel_lanes) * width;
            const Index count = std::min(panel_lanes, k.tokens - p * panel_lanes);
            for (Index g = 0; g < k.heads; ++g)
              fill_panel(kernels_, rows + g * k.width, count, width, k.width, k.panel(n, g, p));
            if (asks_finite_) note(kernels_.finite(rows, count * width));
          }};
}

TaskPhase FusedKeys::given_values(const Tensor& heads, Search search) {
  const Index panels = whole_parts(sizes_.keys, panel_lanes);
  const float* const from = heads.values<float>().data();
  const bool stays = v.step == sizes_.v_head_dim && sizes_.all_keys == sizes_.keys;
  if (stays) v.read_in_place(from);
  values_unsearched_ = stays && asks_finite_ && search == Search::later;
  if (stays && (!asks_finite_ || values_unsearched_)) return {};
  return {sizes_.batch * sizes_.kv_heads * panels, [this, panels, from, stays](Index task, int) {
            const Index head = task / panels, first = task % panels * panel_lanes, Dv = sizes_.v_head_dim;
            const Index count = std::min(panel_lanes, sizes_.keys - first);
            const float* const rows = from + (head * sizes_.keys + first) * Dv;
            const Index n = head / sizes_.kv_heads, g = head % sizes_.kv_heads;
            for (Index key = 0; !stays && key < count; ++key)
              std::copy_n(rows + key * Dv, Dv, v.row(n, g, first + key));
            if (asks_finite_) note(kernels_.finite(rows, count * Dv));
          }};
}

TaskPhase FusedKeys::kept_values(const Tensor& rows_before) {
  const Index panels = whole_parts(v.tokens, panel_lanes);
  return {sizes_.batch * panels, [this, panels, from = rows_before.values<float>().data()](Index task, int) {
            const Index n = task / panels, first = task % panels * panel_lanes, width = v.heads * v.width;
            const Index last = std::min(first + panel_lanes, v.tokens);
            for (Index g = 0; g < v.heads; ++g)
              for (Index key = first; key < last; ++key)
                std::copy_n(from + (n * v.tokens + key) * width + g * v.width, v.width, v.row(n, g, key));
            if (asks_finite_)
              note(kernels_.finite(from + (n * v.tokens + first) * width, (last - first) * width));
          }};
}

void FusedKeys::append(Index n, const float* bias_k, const float* bias_v) {
  const Index D = sizes_.head_dim, Dv = sizes_.v_head_dim;
  for (Index key = sizes_.keys; key < sizes_.all_keys; ++key) {
    const bool bias = bias_k && key == sizes_.keys;
    for (Index g = 0; g < sizes_.kv_heads; ++g) {
      float* const lane = k.panel(n, g, key / panel_lanes) + key % panel_lanes;
      float* const row = v.row(n, g, key);
      for (Index d = 0; d < D; ++d) lane[d * panel_lanes] = bias ? bias_k[g * D + d] : 0.0f;
      for (Index d = 0; d < Dv; ++d) row[d] = bias ? bias_v[g * Dv + d] : 0.0f;
    }
    if (bias) note(kernels_.finite(bias_k, sizes_.kv_heads * D));
    if (bias) note(kernels_.finite(bias_v, sizes_.kv_heads * Dv));
  }
}

}  // namespace headwise
