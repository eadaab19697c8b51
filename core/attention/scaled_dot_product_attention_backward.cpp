#include "core/attention/scaled_dot_product_attention_backward.h"

#include <cmath>
#include <limits>

#include "core/attention/heads.h"
#include "core/attention/matrix_product.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

// out[n,g,s,w] = Σ_{h of g} Σ_l a[n,h,l,s]·b[n,h,l,w]: the gradient that the query heads of a group pass back
// to their shared head.
Tensor sum_over_group(const Tensor& a, const Tensor& b, const Shape& shared) {
  Tensor out(shared, a.dtype());
  const Index batch = shared.size(0);
  const Index kv_heads = shared.size(1);
  const Index heads = a.shape().size(1);
  const Index group = heads / kv_heads;
  dispatch_float(a.dtype(), [&]<class T>() {
    for (Index n = 0; n < batch; ++n) {
      for (Index g = 0; g < kv_heads; ++g) {
        const ProgressPart part = slice_of_work(n * kv_heads + g, batch * kv_heads);
        RowMatrix<double> sum = RowMatrix<double>::Zero(shared.size(2), shared.size(3));
        for (Index h = g * group; h < (g + 1) * group; ++h) {
          sum += product(matrix<T>(a, n * heads + h).transpose(), matrix<T>(b, n * heads + h));
        }
        matrix<T>(out, n * kv_heads + g) = sum.template cast<T>();
      }
    }
  });
  return out;
}

// out[n,h,l,·] = a[n,h,l,·]·shared[n,g,·,·], or ·sharedᵀ.
Tensor product_with_shared(const Tensor& a, const Tensor& shared, const Shape& shape, bool transposed) {
  Tensor out(shape, a.dtype());
  const Index heads = shape.size(1);
  const Index kv_heads = shared.shape().size(1);
  dispatch_float(a.dtype(), [&]<class T>() {
    for (Index slice = 0; slice < shape.size(0) * heads; ++slice) {
      const ProgressPart part = slice_of_work(slice, shape.size(0) * heads);
      const Index n = slice / heads;
      const auto other = matrix<T>(shared, n * kv_heads + kv_head_of(slice % heads, heads, kv_heads));
      if (transposed) {
        multiply<T>(matrix<T>(out, slice), matrix<T>(a, slice), other.transpose());
      } else {
        multiply<T>(matrix<T>(out, slice), matrix<T>(a, slice), other);
      }
    }
  });
  return out;
}

}  // namespace

Tensor weighted_sum_weights_gradient(const Tensor& grad_head_output, const Tensor& v_heads,
                                     const Shape& weights) {
  return product_with_shared(grad_head_output, v_heads, weights, true);
}

Tensor weighted_sum_values_gradient(const Tensor& grad_head_output, const Tensor& dropped_weights,
                                    const Shape& v_heads) {
  return sum_over_group(dropped_weights, grad_head_output, v_heads);
}

Tensor softmax_gradient(const Tensor& grad_attn_weights, const Tensor& attn_weights) {
  Tensor grad(attn_weights.shape(), attn_weights.dtype());
  if (grad.size() == 0) return grad;
  const auto keys = static_cast<std::size_t>(grad.shape().size(grad.shape().rank() - 1));
  dispatch_float(grad.dtype(), [&]<class T>() {
    for (std::size_t first = 0; first < static_cast<std::size_t>(grad.size()); first += keys) {
      const auto p = attn_weights.values<T>().subspan(first, keys);
      const auto dp = grad_attn_weights.values<T>().subspan(first, keys);
      double sum = 0.0;
      for (std::size_t s = 0; s < keys; ++s) sum += static_cast<double>(dp[s]) * static_cast<double>(p[s]);
      for (std::size_t s = 0; s < keys; ++s) {
        grad.values<T>()[first + s] = static_cast<T>(p[s] * (static_cast<double>(dp[s]) - sum));
      }
    }
  });
  return grad;
}

Tensor mask_scores_gradient(const Tensor& grad_masked_scores, const Tensor& mask_bias,
                            std::optional<double> mask_value) {
  Tensor grad = grad_masked_scores;
  if (!mask_value) return grad;
  dispatch_float(grad.dtype(), [&]<class T>() {
    const auto bias = mask_bias.values<T>();
    for (std::size_t i = 0; i < bias.size(); ++i) {
      if (bias[i] == -std::numeric_limits<T>::infinity()) grad.values<T>()[i] = T{0};
    }
  });
  return grad;
}

Tensor scale_scores_gradient(const Tensor& grad_scaled_scores, const Tensor& scores, const ScoreScale& scale) {
  Tensor grad(scores.shape(), scores.dtype());
  dispatch_float(grad.dtype(), [&]<class T>() {
    const auto from = grad_scaled_scores.values<T>();
    for (std::size_t i = 0; i < from.size(); ++i) {
      double dx = static_cast<double>(from[i]);
      if (scale.softcap > 0.0) {
        const double x = static_cast<double>(scores.values<T>()[i]) * scale.scale / scale.temperature;
        const double squashed = std::tanh(x / scale.softcap);
        dx *= 1.0 - squashed * squashed;
      }
      grad.values<T>()[i] = static_cast<T>(dx * scale.scale / scale.temperature);
    }
  });
  return grad;
}

Tensor attention_scores_query_gradient(const Tensor& grad_scores, const Tensor& k_heads, const Shape& q_heads) {
  return product_with_shared(grad_scores, k_heads, q_heads, false);
}

Tensor attention_scores_key_gradient(const Tensor& grad_scores, const Tensor& q_heads, const Shape& k_heads) {
  return sum_over_group(grad_scores, q_heads, k_heads);
}

}  // namespace headwise
