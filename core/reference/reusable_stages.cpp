#include "core/reference/reusable_stages.h"

#include <algorithm>
#include <initializer_list>

#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

bool have_same(const TraceTensors& a, const TraceTensors& b,
               std::initializer_list<TensorPtr TraceTensors::*> arrays) {
  return std::ranges::all_of(arrays, [&](const auto array) { return a.*array == b.*array; });
}

}  // namespace

bool have_same_projection_parameters(const Trace& before, const AttentionInputs& inputs) {
  return before.options.op == inputs.options.op && before.dtype == inputs.dtype &&
         attention_sizes(before.options, before.tensors) == attention_sizes(inputs) &&
         have_same(before.tensors, inputs.tensors,
                   {&TraceTensors::in_proj_weight, &TraceTensors::q_proj_weight, &TraceTensors::k_proj_weight,
                    &TraceTensors::v_proj_weight, &TraceTensors::in_proj_bias, &TraceTensors::bias_k,
                    &TraceTensors::bias_v, &TraceTensors::static_k, &TraceTensors::static_v});
}

bool have_same_projections(const Trace& before, const AttentionInputs& inputs) {
  const TraceTensors &a = before.tensors, &b = inputs.tensors;
  if (!have_same_projection_parameters(before, inputs)) return false;
  // In that case a trace stores its inputs under the names of the heads.
  if (before.options.op == Op::scaled_dot_product_attention)
    return a.q_heads == b.query && a.k_heads == b.key && a.v_heads == b.value;
  return have_same(a, b, {&TraceTensors::query, &TraceTensors::key, &TraceTensors::value});
}

bool have_same_attention(const Trace& before, const AttentionInputs& inputs) {
  // Options that are read later are listed, so that a new option counts until it is added here.
  const AttentionOptions now = resolved_options(inputs);
  AttentionOptions then = before.options;
  then.head_gain = now.head_gain;
  then.residual = now.residual;
  then.layer_norm = now.layer_norm;
  then.need_weights = now.need_weights;
  then.average_attn_weights = now.average_attn_weights;
  return then == now && have_same(before.tensors, inputs.tensors,
                                  {&TraceTensors::attn_mask, &TraceTensors::key_padding_mask,
                                   &TraceTensors::valid_lens, &TraceTensors::frozen_weights});
}

bool have_same_output(const Trace& before, const AttentionInputs& inputs) {
  return before.options.head_gain == inputs.options.head_gain &&
         have_same(before.tensors, inputs.tensors,
                   {&TraceTensors::head_gain, &TraceTensors::out_proj_weight, &TraceTensors::out_proj_bias});
}

}  // namespace headwise
