#include "core/trace/attention_sizes.h"

namespace headwise {

Shape AttentionSizes::scores_shape() const {
  return Shape{{"N", batch}, {"H", heads}, {"L", queries}, {key_axis(), all_keys}};
}

AttentionSizes attention_sizes(const AttentionInputs& inputs) {
  const TraceTensors& t = inputs.tensors;
  AttentionSizes sizes;
  sizes.batch = t.query->shape().size(0);
  if (inputs.options.op == Op::scaled_dot_product_attention) {
    sizes.heads = t.query->shape().size(1);
    sizes.queries = t.query->shape().size(2);
    sizes.head_dim = t.query->shape().size(3);
    sizes.kv_heads = t.key->shape().size(1);
    sizes.keys = sizes.all_keys = t.key->shape().size(2);
    sizes.v_head_dim = t.value->shape().size(3);
    sizes.embed_dim = checked_multiply(sizes.heads, sizes.v_head_dim, "embed_dim");
    return sizes;
  }
  sizes.queries = t.query->shape().size(1);
  sizes.keys = t.static_k   ? t.static_k->shape().size(2)
               : t.static_v ? t.static_v->shape().size(2)
                            : t.key->shape().size(1);
  sizes.all_keys = sizes.keys + (t.bias_k ? 1 : 0) + (inputs.options.add_zero_attn ? 1 : 0);
  sizes.embed_dim = inputs.options.embed_dim;
  sizes.heads = inputs.options.num_heads;
  sizes.kv_heads = inputs.options.num_kv_heads;
  sizes.head_dim = inputs.options.head_dim;
  sizes.v_head_dim = inputs.options.v_head_dim;
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
