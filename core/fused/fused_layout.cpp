#include "core/fused/fused_layout.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "core/tensor/cancellation.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr Index alignment = 64;  // of a cache line, and of the widest vector
// What a product may read after the last number: it reads whole vectors.
constexpr Index slack = 16;
// Padding between two panels: if their distance is a large power of two, one head's part of all of them falls
// into few cache sets. 4 KiB plus four lines.
constexpr Index panel_gap = 1088;
constexpr Index few_features = 128;

}  // namespace

FusedBuffer::FusedBuffer(Index size) : size_(size) {
  const Index bytes = checked_multiply(size, static_cast<Index>(sizeof(float)), "a buffer");
  require_memory(bytes, "the fused backend");
  const Index rounded = whole_parts(bytes + slack * static_cast<Index>(sizeof(float)), alignment) * alignment;
  data_.reset(static_cast<float*>(
      std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>(rounded))));
  if (!data_) throw std::bad_alloc();
}

void FusedBuffer::Free::operator()(float* data) const {
  std::free(data);
}

Panels::Panels(Index batch_size, Index token_count, Index feature_count)
    : batch(batch_size),
      tokens(token_count),
      count(whole_parts(token_count, panel_lanes)),
      width(feature_count),
      step(width * panel_lanes + (width > few_features ? panel_gap : 0)),
      data(checked_multiply(batch * count, step, "panels")) {}

Index Panels::tokens_of(Index p) const {
  return std::min(panel_lanes, tokens - p * panel_lanes);
}

HeadPanels::HeadPanels(Index batch, Index head_count, Index token_count, Index feature_count)
    : heads(head_count),
      tokens(token_count),
      count(whole_parts(token_count, panel_lanes)),
      width(feature_count),
      size(width * panel_lanes),
      data(checked_multiply(batch * heads * count, size, "panels of heads")) {
  for (Index last = count - 1; tokens % panel_lanes != 0 && last < batch * heads * count; last += count)
    std::fill_n(data.at(last * size), size, 0.0f);
}

HeadRows::HeadRows(Index batch, Index head_count, Index token_count, Index feature_count)
    : heads(head_count),
      tokens(token_count),
      width(feature_count),
      step(whole_parts(feature_count, widest_vector) * widest_vector),
      data(checked_multiply(batch * heads, tokens * step, "rows of heads")) {
  if (step != width) std::fill_n(data.at(0), data.size(), 0.0f);
}

void fill_panel(const FusedKernels& kernels, const float* tokens, Index count, Index stride, Index width,
                float* panel) {
  kernels.transpose(tokens, stride, count, width, nullptr, panel, panel_lanes);
  for (Index row = 0; count < panel_lanes && row < width; ++row)
    std::fill(panel + row * panel_lanes + count, panel + (row + 1) * panel_lanes, 0.0f);
}

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
