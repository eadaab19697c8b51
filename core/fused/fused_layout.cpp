#include "core/fused/fused_layout.h"

#include <algorithm>
#include <cstdlib>
#include <new>

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

}  // namespace headwise
