#include "core/trace/kept_projections.h"

#include "core/trace/attention_sizes.h"

namespace headwise {

bool have_same_projections(const Trace& before, const AttentionInputs& inputs) {
  const TraceTensors &a = before.tensors, &b = inputs.tensors;
  if (before.options.op != inputs.options.op || before.dtype != inputs.dtype ||
      attention_sizes(before.options, a) != attention_sizes(inputs))
    return false;
  // There a trace names its inputs as the heads that they are.
  if (before.options.op == Op::scaled_dot_product_attention)
    return a.q_heads == b.query && a.k_heads == b.key && a.v_heads == b.value;
  for (const auto array :
       {&TraceTensors::query, &TraceTensors::key, &TraceTensors::value, &TraceTensors::in_proj_weight,
        &TraceTensors::q_proj_weight, &TraceTensors::k_proj_weight, &TraceTensors::v_proj_weight,
        &TraceTensors::in_proj_bias, &TraceTensors::bias_k, &TraceTensors::bias_v, &TraceTensors::static_k,
        &TraceTensors::static_v})
    if (a.*array != b.*array) return false;
  return true;
}

}  // namespace headwise
