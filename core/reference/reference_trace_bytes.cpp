#include <vector>

#include "core/attention/attention_mask.h"
#include "core/attention/rotary_embedding.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

// The shapes of all tensors that the forward pass creates; names for the same tensor count once.
std::vector<Shape> forward_shapes(const AttentionInputs& inputs) {
  const AttentionOptions& options = inputs.options;
  const TraceTensors& t = inputs.tensors;
  const AttentionSizes s = attention_sizes(inputs);
  const Axis n{"N", s.batch}, l{"L", s.queries}, keys{s.key_axis(), s.all_keys}, h{"H", s.heads};
  const bool masked = has_any_mask(options, {t.attn_mask.get(), t.key_padding_mask.get(), t.valid_lens.get()});

  std::vector<Shape> shapes;
  const bool all_frozen = static_cast<Index>(options.frozen_heads.size()) == s.heads;
  const Index of_scores = 3 + (masked ? 2 : 0) + (options.dropout > 0.0 && !all_frozen ? 1 : 0);
  shapes.insert(shapes.end(), static_cast<std::size_t>(of_scores), s.scores_shape());
  shapes.push_back({n, h, l, {"Dv", s.v_head_dim}});
  if (has_rotary_embedding(options)) {
    shapes.push_back({n, h, l, {"D", s.head_dim}});
    shapes.push_back({n, keys, {"G", s.kv_heads}, {"D", s.head_dim}});
  }
  if (options.op == Op::scaled_dot_product_attention) return shapes;

  for (int twice = 0; twice < 2; ++twice) {  // q, k, v and q_heads, k_heads, v_heads
    shapes.push_back({n, l, h, {"D", s.head_dim}});
    shapes.push_back({n, keys, {"G", s.kv_heads}, {"D", s.head_dim}});
    shapes.push_back({n, keys, {"G", s.kv_heads}, {"Dv", s.v_head_dim}});
  }
  shapes.push_back({n, l, h, {"Dv", s.v_head_dim}});
  const Index of_output = 1 + (options.residual ? 1 : 0) + (options.layer_norm ? 1 : 0);
  shapes.insert(shapes.end(), static_cast<std::size_t>(of_output), Shape{n, l, {"E", s.embed_dim}});
  if (options.need_weights && options.average_attn_weights) shapes.push_back({n, l, keys});
  return shapes;
}

}  // namespace

Index reference_trace_bytes(const AttentionInputs& inputs) {
  Index bytes = 0;
  for (const Shape& shape : forward_shapes(inputs)) {
    const Index more =
        checked_multiply(shape.element_count(), static_cast<Index>(dtype_bytes(inputs.dtype)), "the trace");
    if (__builtin_add_overflow(bytes, more, &bytes)) {
      throw Error(ExitStatus::memory, {"the trace", "the number of bytes is out of range", shape.to_string(),
                                       "", "choose smaller sizes"});
    }
  }
  return bytes;
}

}  // namespace headwise
