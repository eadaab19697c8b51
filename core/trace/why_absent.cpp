#include "core/trace/why_absent.h"

namespace headwise {

std::string why_absent(const Trace& trace, TensorName name) {
  if (name.gradient && !trace.grad.output) return "gradients were not computed: add --backward";
  if (name.gradient && trace.tensor(name.id)) {
    if (name.id == TensorId::key || name.id == TensorId::value)
      return "key and value are the query in self-attention: grad.query is the total";
    if (name.id == TensorId::frozen_weights) return "the weights of a frozen head are a constant";
    return "a tensor of this kind has no gradient";
  }
  const bool sdpa = trace.options.op == Op::scaled_dot_product_attention;
  if (sdpa && (name.id == TensorId::query || name.id == TensorId::key || name.id == TensorId::value))
    return "scaled_dot_product_attention calls query, key and value q_heads, k_heads and v_heads";
  const TensorEntry& entry = tensor_entry(name.id);
  const bool is_mask = entry.role == TensorRole::mask && name.id != TensorId::head_gain;
  if (name.id == TensorId::frozen_weights) return "no head is frozen: heads.frozen is null";
  if (name.id == TensorId::q_rotary || name.id == TensorId::k_rotary)
    return "this scenario turns nothing by its position: attention.rotary_base is null";
  if (sdpa && !is_mask && name.id != TensorId::mask_bias)
    return "scaled_dot_product_attention has no such tensor";
  switch (name.id) {
    case TensorId::in_proj_weight:
      return "the parameters of this scenario are separate: q_proj_weight, k_proj_weight, v_proj_weight";
    case TensorId::q_proj_weight:
    case TensorId::k_proj_weight:
    case TensorId::v_proj_weight:
      return "the parameters of this scenario are packed: in_proj_weight";
    case TensorId::mask_bias:
      return "this scenario has no mask";
    case TensorId::static_k:
    case TensorId::static_v:
    case TensorId::bias_k:
    case TensorId::bias_v:
      return "this scenario has none; give it with --input, or bias_k and bias_v by attention.add_bias_kv";
    case TensorId::residual_output:
      return "this scenario adds no residual: attention.residual is false";
    case TensorId::layer_norm_output:
      return "this scenario does not normalise: attention.layer_norm is false";
    case TensorId::head_gain:
      return "this scenario has no gains: heads.gain is null";
    case TensorId::attn_output_weights:
      return "this scenario returns no weights: attention.need_weights is false";
    case TensorId::attn_mask:
    case TensorId::key_padding_mask:
    case TensorId::valid_lens:
      return "this scenario has no such mask; give it with --input";
    default:
      return "this scenario has no such tensor";
  }
}

}  // namespace headwise
