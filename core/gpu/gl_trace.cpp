// Reads results back from the GPU.
#include <algorithm>

#include "core/attention/kept_weights.h"
#include "core/attention/softmax.h"
#include "core/gpu/gl_state.h"
#include "core/gpu/gpu_faults.h"
#include "core/gpu/gpu_read.h"
#include "core/tensor/cancellation.h"

namespace headwise {
namespace {

constexpr Index tile_numbers = Index{4} << 20;  // of weights read back at a time

TensorPtr shared(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

}  // namespace

Tensor GlForward::attn_weights(Index n, Index h, Index first, Index rows) {
  const AttentionSizes& sizes = state_->sizes;
  const std::vector<Index>& frozen = state_->trace->options.frozen_heads;
  Tensor weights(Shape{{"L", rows}, {sizes.key_axis(), sizes.all_keys}}, DType::f32);
  if (const auto at = std::ranges::find(frozen, h); at != frozen.end()) {
    const Index slice = n * static_cast<Index>(frozen.size()) + (at - frozen.begin());
    const Index begin = (slice * sizes.queries + first) * sizes.all_keys;
    for (Index i = 0; i < weights.size(); ++i)
      weights.set_flat(i, state_->trace->tensors.frozen_weights->flat(begin + i));
    return weights;
  }
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
  // (N,heads,rows,width) on the GPU as (N,rows,heads·width)
  const auto joined = [&](const StorageBuffer& from, Index heads, Index rows, Index width,
                          const char* row_axis, const char* axis) {
    Tensor tensor =
        Tensor::unwritten(Shape{{"N", sizes.batch}, {row_axis, rows}, {axis, heads * width}}, DType::f32);
    const auto to = tensor.values<float>();
    read_back(from, rows * width, [&](Index head, std::span<const float> numbers) {
      const Index n = head / heads, h = head % heads;
      for (Index row = 0; row < rows; ++row)
        std::copy_n(numbers.begin() + row * width, width, to.begin() + ((n * rows + row) * heads + h) * width);
    });
    return shared(std::move(tensor));
  };
  if (s.run.keep_attn_weights) {
    Tensor weights(sizes.scores_shape(), DType::f32);
    const auto to = weights.values<float>();
    const Index most = std::clamp<Index>(tile_numbers / sizes.all_keys, 1, sizes.queries);
    const StorageBuffer tile("tile of attn_weights", most * sizes.all_keys);
    const std::vector<Index>& frozen = trace->options.frozen_heads;
    for (Index row = 0; row < sizes.batch * sizes.heads; ++row) {
      if (std::ranges::find(frozen, row % sizes.heads) != frozen.end()) continue;
      for (Index first = 0; first < sizes.queries; first += most) {
        check_cancelled();
        const Index rows = std::min(most, sizes.queries - first);
        attention_weights_rows(s.programs, s.attention, row / sizes.heads, row % sizes.heads, first, rows,
                               tile);
        tile.read(0, to.subspan(static_cast<std::size_t>((row * sizes.queries + first) * sizes.all_keys),
                                static_cast<std::size_t>(rows * sizes.all_keys)));
      }
    }
    if (!frozen.empty()) weights = with_frozen_heads(std::move(weights), *t.frozen_weights, frozen);
    keep_attn_weights(t, trace->options, std::move(weights));
  }
  if (!s.is_module()) {
    Tensor output(Shape{{"N", sizes.batch}, {"H", sizes.heads}, {"L", sizes.queries}, {"Dv", sizes.v_head_dim}},
                  DType::f32);
    read_back(s.heads, output.values<float>());
    t.head_output = t.output = shared(std::move(output));
    return trace;
  }
  t.q = joined(s.q, sizes.heads, sizes.queries, sizes.head_dim, "L", "H·D");
  t.k = joined(s.k, sizes.kv_heads, sizes.key_rows(), sizes.head_dim, sizes.key_rows_axis(), "G·D");
  t.v = joined(s.v, sizes.kv_heads, sizes.key_rows(), sizes.v_head_dim, sizes.key_rows_axis(), "G·Dv");
  Tensor output(Shape{{"N", sizes.batch}, {"L", sizes.queries}, {"E", sizes.embed_dim}}, DType::f32);
  read_back(s.output, output.values<float>());
  t.output = shared(std::move(output));
  add_and_norm(t, trace->options);
  return trace;
}

}  // namespace headwise
