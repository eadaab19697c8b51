#include "core/train/chunk_scan.h"

#include <fmt/format.h>

#include <cmath>

namespace headwise {
namespace {

// Whether the first `columns` of each row are finite.
template <class T>
bool rows_are_finite(const T* rows, Index count, Index columns, Index step) {
  for (Index r = 0; r < count; ++r)
    for (Index c = 0; c < columns; ++c)
      if (!std::isfinite(rows[r * step + c])) return false;
  return true;
}

}  // namespace

template <class T>
FoundTensor first_not_finite(const ChunkWork<T>& work) {
  const Index rows = work.sequences * work.tokens, in = (work.heads + 2 * work.kv_heads) * work.head_width;
  Index place = 0;
  FoundTensor found;
  const auto look = [&](const char* name, Index layer, const T* values, Index count, Index columns, Index step) {
    ++place;
    if (!found.name.empty() || rows_are_finite(values, count, columns, step)) return;
    found = {place, fmt::format("layers.{}.{}", layer, name)};
  };
  for (Index i = 0; i < work.layers; ++i) {
    const LayerRows<T>& layer = work.layer[i];
    look("attention_input", i, layer.attention_input.out, rows, work.width, work.width_step);
    look("q_k_v", i, layer.in, rows, in, work.in_step);
    look("attn_weights", i, layer.weights, work.sequences * work.heads * work.tokens, work.tokens,
         work.token_step);
    look("concat", i, layer.heads, rows, work.heads * work.head_width, work.heads_step);
    if (work.hidden == 0) continue;
    look("feed_forward_input", i, layer.feed_forward_input.out, rows, work.width, work.width_step);
    look("hidden", i, layer.hidden, rows, work.hidden, work.hidden_step);
  }
  ++place;
  if (found.name.empty() && !rows_are_finite(work.scratch.stream, rows, work.width, work.width_step))
    found = {place, "the residual stream after the last layer"};
  return found;
}

template FoundTensor first_not_finite(const ChunkWork<float>&);
template FoundTensor first_not_finite(const ChunkWork<double>&);

}  // namespace headwise
