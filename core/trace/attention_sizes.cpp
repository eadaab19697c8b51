#include "core/trace/attention_sizes.h"

namespace headwise {

Shape AttentionSizes::scores_shape() const {
  return Shape{{"N", batch}, {"H", heads}, {"L", queries}, {key_axis(), all_keys}};
}

AttentionSizes attention_sizes(const AttentionInputs& inputs) {
  return attention_sizes(inputs.options, inputs.tensors);
}

AttentionSizes attention_sizes(const AttentionOptions& options, const TraceTensors& t) {
  AttentionSizes sizes;
  if (options.op == Op::scaled_dot_product_attention) {
    const Shape& query = (t.query ? t.query : t.q_heads)->shape();
    const Shape& key = (t.key ? t.key : t.k_heads)->shape();
    const Shape& value = (t.value ? t.value : t.v_heads)->shape();
    sizes.batch = query.size(0);
    sizes.heads = query.size(1);
    sizes.queries = query.size(2);
    sizes.head_dim = query.size(3);
    sizes.kv_heads = key.size(1);
    sizes.keys = sizes.all_keys = key.size(2);
    sizes.v_head_dim = value.size(3);
    sizes.embed_dim = checked_multiply(sizes.heads, sizes.v_head_dim, "embed_dim");
    return sizes;
  }
  sizes.batch = t.query->shape().size(0);
  sizes.queries = t.query->shape().size(1);
  sizes.keys = t.static_k   ? t.static_k->shape().size(2)
               : t.static_v ? t.static_v->shape().size(2)
                            : t.key->shape().size(1);
  sizes.all_keys = sizes.keys + (t.bias_k ? 1 : 0) + (options.add_zero_attn ? 1 : 0);
  sizes.embed_dim = options.embed_dim;
  sizes.heads = options.num_heads;
  sizes.kv_heads = options.num_kv_heads;
  sizes.head_dim = options.head_dim;
  sizes.v_head_dim = options.v_head_dim;
  return sizes;
}

AttentionOptions resolved_options(const AttentionInputs& inputs) {
  AttentionOptions options = inputs.options;
  if (options.op != Op::scaled_dot_product_attention) return options;
  const AttentionSizes sizes = attention_sizes(inputs);
  options.embed_dim = options.kdim = options.vdim = sizes.embed_dim;
  options.num_heads = sizes.heads;
  options.num_kv_heads = sizes.kv_heads;
  options.head_dim = sizes.head_dim;
  options.v_head_dim = sizes.v_head_dim;
  return options;
}

}  // namespace headwise
