#include "core/attention/kept_weights.h"

#include "core/attention/add_and_norm.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/softmax.h"

namespace headwise {
namespace {

TensorPtr shared(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

// attn_output_weights, from dropped_weights.
void make_returned_weights(TraceTensors& t, const AttentionOptions& options) {
  if (!projects(options.op) || !options.need_weights) return;
  t.attn_output_weights =
      options.average_attn_weights ? shared(average_over_heads(*t.dropped_weights)) : t.dropped_weights;
}

}  // namespace

void keep_attn_weights(TraceTensors& t, const AttentionOptions& options, Tensor attn_weights) {
  t.attn_weights = shared(std::move(attn_weights));
  t.dropped_weights = t.attn_weights;
  if (options.dropout > 0.0) {
    Tensor dropped = dropout(*t.attn_weights, options.dropout, options.dropout_seed);
    if (t.frozen_weights)
      dropped = with_frozen_heads(std::move(dropped), *t.frozen_weights, options.frozen_heads);
    t.dropped_weights = shared(std::move(dropped));
  }
  make_returned_weights(t, options);
}

void keep_attn_weights_of(const TraceTensors& before, TraceTensors& t, const AttentionOptions& options) {
  t.attn_weights = before.attn_weights;
  t.dropped_weights = before.dropped_weights;
  make_returned_weights(t, options);
}

void add_and_norm(TraceTensors& tensors, const AttentionOptions& options) {
  if (options.residual) tensors.residual_output = shared(add_residual(*tensors.query, *tensors.output));
  if (options.layer_norm)
    tensors.layer_norm_output =
        shared(layer_norm(options.residual ? *tensors.residual_output : *tensors.output));
}

}  // namespace headwise
