#include "core/attention/add_and_norm.h"
#include "core/attention/add_and_norm_backward.h"
#include "core/attention/attention_mask_backward.h"
#include "core/attention/dropout.h"
#include "core/attention/heads.h"
#include "core/attention/heads_backward.h"
#include "core/attention/in_projection.h"
#include "core/attention/in_projection_backward.h"
#include "core/attention/linear_backward.h"
#include "core/attention/scaled_dot_product_attention_backward.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"
#include "core/trace/attention_sizes.h"
#include "core/trace/reference_backend.h"
#include "core/trace/rounded_trace.h"

namespace headwise {
namespace {

TensorPtr kept(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

TensorPtr zeros(const TensorPtr& like, DType dtype) {
  return std::make_shared<const Tensor>(like->shape(), dtype);
}

bool is_float(const TensorPtr& tensor) {
  return tensor && (tensor->dtype() == DType::f32 || tensor->dtype() == DType::f64);
}

// The tensor that the loss is a weighted sum of.
TensorId last_output(const TraceTensors& t) {
  if (t.layer_norm_output) return TensorId::layer_norm_output;
  return t.residual_output ? TensorId::residual_output : TensorId::output;
}

TensorPtr checked_grad_output(const Trace& forward, const TensorPtr& given) {
  const TensorPtr& last = forward.tensor(last_output(forward.tensors));
  if (!given) {
    Tensor ones(last->shape(), forward.dtype);
    for (Index i = 0; i < ones.size(); ++i) ones.set_flat(i, 1.0);
    return kept(std::move(ones));
  }
  if (!given->shape().same_sizes(last->shape()) || given->dtype() != forward.dtype) {
    throw Error(
        ExitStatus::input,
        {"grad_output", "it must be as the last output is",
         given->shape().sizes_text() + " " + dtype_name(given->dtype()),
         last->shape().letters() + " = " + last->shape().sizes_text() + " " + dtype_name(forward.dtype), ""});
  }
  return given;
}

Index gradient_bytes(const Trace& forward) {
  Index bytes = 0;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = forward.tensor(entry.id);
    if (is_float(tensor)) bytes += static_cast<Index>(tensor->bytes());
  }
  return bytes;
}

// Each function takes the gradient on from what it makes to what it read, in the reverse order of
// computation.
class Backward {
 public:
  Backward(const Trace& forward, TraceTensors& grad)
      : t_(forward.tensors),
        o_(forward.options),
        sizes_(attention_sizes(o_, t_)),
        dtype_(forward.dtype),
        g_(grad) {}

  void add_and_norm();
  void merge_and_project();
  void scaled_dot_product_attention();
  void project();

 private:
  void mask();
  // Through k or v: the appended rows and what they came from. Returns the gradient of the projected rows
  // (N,S,W).
  TensorPtr appended_rows(const TensorPtr& grad_rows, const TensorPtr& bias_row,
                          TensorPtr& grad_bias_row) const;

  const TraceTensors& t_;
  const AttentionOptions& o_;
  const AttentionSizes sizes_;
  const DType dtype_;
  TraceTensors& g_;
};

void Backward::add_and_norm() {
  TensorPtr& grad_sum = t_.residual_output ? g_.residual_output : g_.output;
  const TensorPtr& sum = t_.residual_output ? t_.residual_output : t_.output;
  if (t_.layer_norm_output) grad_sum = kept(layer_norm_gradient(*g_.layer_norm_output, *sum));
  if (t_.residual_output) g_.output = g_.residual_output;
}

void Backward::merge_and_project() {
  g_.concat = kept(linear_input_gradient(*g_.output, {t_.out_proj_weight.get()}, t_.concat->shape()));
  Tensor grad_weight(t_.out_proj_weight->shape(), dtype_);
  linear_weight_gradient(*g_.output, *t_.concat, grad_weight, 0);
  g_.out_proj_weight = kept(std::move(grad_weight));
  if (t_.out_proj_bias) {
    Tensor grad_bias(t_.out_proj_bias->shape(), dtype_);
    linear_bias_gradient(*g_.output, grad_bias, 0);
    g_.out_proj_bias = kept(std::move(grad_bias));
  }
  g_.head_output = kept(merge_heads_gradient(*g_.concat, t_.head_gain.get(), t_.head_output->shape()));
  if (t_.head_gain)
    g_.head_gain = kept(head_gain_gradient(*g_.concat, *t_.head_output, t_.head_gain->shape()));
}

void Backward::mask() {
  if (!t_.mask_bias) {
    g_.scaled_scores = g_.masked_scores;
    return;
  }
  g_.scaled_scores = kept(mask_scores_gradient(*g_.masked_scores, *t_.mask_bias, o_.mask_value));
  g_.mask_bias = g_.scaled_scores;  // both were addends
  if (is_float(t_.attn_mask)) {
    g_.attn_mask = kept(attn_mask_gradient(o_.op, *g_.mask_bias, t_.attn_mask->shape(), sizes_.keys));
  }
  if (is_float(t_.key_padding_mask)) {
    g_.key_padding_mask = kept(key_padding_mask_gradient(*g_.mask_bias, t_.key_padding_mask->shape()));
  }
}

void Backward::scaled_dot_product_attention() {
  g_.dropped_weights =
      kept(weighted_sum_weights_gradient(*g_.head_output, *t_.v_heads, t_.attn_weights->shape()));
  g_.v_heads = kept(weighted_sum_values_gradient(*g_.head_output, *t_.dropped_weights, t_.v_heads->shape()));
  g_.attn_weights = o_.dropout == 0.0 ? g_.dropped_weights
                                      : kept(dropout(*g_.dropped_weights, o_.dropout, o_.dropout_seed));
  g_.masked_scores = kept(softmax_gradient(*g_.attn_weights, *t_.attn_weights));
  mask();
  g_.scores = kept(scale_scores_gradient(*g_.scaled_scores, *t_.scores, score_scale(o_)));
  g_.q_heads = kept(attention_scores_query_gradient(*g_.scores, *t_.k_heads, t_.q_heads->shape()));
  g_.k_heads = kept(attention_scores_key_gradient(*g_.scores, *t_.q_heads, t_.k_heads->shape()));
}

TensorPtr Backward::appended_rows(const TensorPtr& grad_rows, const TensorPtr& bias_row,
                                  TensorPtr& grad_bias_row) const {
  if (sizes_.all_keys == sizes_.keys) return grad_rows;
  if (bias_row) grad_bias_row = kept(bias_row_gradient(*grad_rows, sizes_.keys, bias_row->shape()));
  return kept(leading_rows(*grad_rows, sizes_.keys));
}

void Backward::project() {
  g_.q = kept(merge_heads(*g_.q_heads, nullptr, "H·D"));
  g_.k = kept(merge_heads(*g_.k_heads, nullptr, "G·D"));
  g_.v = kept(merge_heads(*g_.v_heads, nullptr, "G·Dv"));
  const TensorPtr grad_k_rows = appended_rows(g_.k, t_.bias_k, g_.bias_k);
  const TensorPtr grad_v_rows = appended_rows(g_.v, t_.bias_v, g_.bias_v);
  if (t_.static_k) g_.static_k = kept(split_heads(*grad_k_rows, sizes_.kv_heads, "G", "D"));
  if (t_.static_v) g_.static_v = kept(split_heads(*grad_v_rows, sizes_.kv_heads, "G", "Dv"));

  // One tensor for all three where the parameters are packed, one for each where not; the bias is always
  // packed.
  std::optional<Tensor> grad_packed, grad_bias;
  if (t_.in_proj_weight) grad_packed.emplace(t_.in_proj_weight->shape(), dtype_);
  if (t_.in_proj_bias) grad_bias.emplace(t_.in_proj_bias->shape(), dtype_);
  const auto through = [&](Projection which, const TensorPtr& grad_y, const TensorPtr& x,
                           const TensorPtr& own_weight, TensorPtr& grad_own_weight,
                           bool replaced) -> TensorPtr {
    const LinearRows rows =
        in_projection_rows(which, o_, t_.in_proj_weight.get(), own_weight.get(), t_.in_proj_bias.get());
    std::optional<Tensor> grad_own;
    if (own_weight) grad_own.emplace(own_weight->shape(), dtype_);
    TensorPtr grad_x;
    if (replaced) {
      grad_x = zeros(x, dtype_);
    } else {
      linear_weight_gradient(*grad_y, *x, grad_own ? *grad_own : *grad_packed, rows.first_weight_row);
      if (grad_bias) linear_bias_gradient(*grad_y, *grad_bias, rows.first_bias_entry);
      grad_x = kept(linear_input_gradient(*grad_y, rows, x->shape()));
    }
    if (grad_own) grad_own_weight = kept(std::move(*grad_own));
    return grad_x;
  };
  g_.query = through(Projection::q, g_.q, t_.query, t_.q_proj_weight, g_.q_proj_weight, false);
  g_.key =
      through(Projection::k, grad_k_rows, t_.key, t_.k_proj_weight, g_.k_proj_weight, t_.static_k != nullptr);
  g_.value = through(Projection::v, grad_v_rows, t_.value, t_.v_proj_weight, g_.v_proj_weight,
                     t_.static_v != nullptr);
  if (grad_packed) g_.in_proj_weight = kept(std::move(*grad_packed));
  if (grad_bias) g_.in_proj_bias = kept(std::move(*grad_bias));

  // What flows back along several ways adds up.
  if (g_.residual_output) g_.query = kept(add_residual(*g_.query, *g_.residual_output));
  if (t_.key == t_.query && t_.value == t_.query) {
    g_.query = kept(add_residual(add_residual(*g_.query, *g_.key), *g_.value));
    g_.key = g_.value = nullptr;
  }
}

}  // namespace

TracePtr reference_backward(const Trace& forward, const TensorPtr& grad_output) {
  const TensorPtr last = checked_grad_output(forward, grad_output);
  require_memory(gradient_bytes(forward), "the gradients");
  const auto trace = std::make_shared<Trace>(forward);
  TraceTensors& grad = trace->grad;
  grad = TraceTensors{};
  if (std::optional<TraceTensors> gradients = rounded_gradients(forward, last)) {
    grad = *std::move(gradients);
    return trace;
  }
  grad.*(tensor_entry(last_output(trace->tensors)).member) = last;
  Backward backward(*trace, grad);
  if (trace->options.op == Op::multi_head_attention) {
    backward.add_and_norm();
    backward.merge_and_project();
    backward.scaled_dot_product_attention();
    backward.project();
  } else {
    grad.head_output = grad.output;
    backward.scaled_dot_product_attention();
  }
  return trace;
}

}  // namespace headwise
