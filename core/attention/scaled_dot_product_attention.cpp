#include "core/attention/scaled_dot_product_attention.h"

#include <cmath>
#include <limits>

#include "core/attention/heads.h"
#include "core/attention/matrix_product.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {

Tensor attention_scores(const Tensor& q_heads, const Tensor& k_heads, Shape out) {
  Tensor scores(std::move(out), q_heads.dtype());
  const Index batch = q_heads.shape().size(0);
  const Index heads = q_heads.shape().size(1);
  const Index kv_heads = k_heads.shape().size(1);
  dispatch_float(q_heads.dtype(), [&]<class T>() {
    for (Index n = 0; n < batch; ++n) {
      for (Index h = 0; h < heads; ++h) {
        check_cancelled();
        const Index g = kv_head_of(h, heads, kv_heads);
        multiply<T>(matrix<T>(scores, n * heads + h), matrix<T>(q_heads, n * heads + h),
                    matrix<T>(k_heads, n * kv_heads + g).transpose());
      }
    }
  });
  return scores;
}

ScoreScale score_scale(const AttentionOptions& options) {
  return {options.scale.value_or(1.0 / std::sqrt(static_cast<double>(options.head_dim))), options.temperature,
          options.softcap};
}

Tensor scale_scores(const Tensor& scores, const ScoreScale& scale) {
  Tensor scaled(scores.shape(), scores.dtype());
  dispatch_float(scores.dtype(), [&]<class T>() {
    const auto from = scores.values<T>();
    const auto to = scaled.values<T>();
    const double factor = scale.scale;
    for (std::size_t i = 0; i < from.size(); ++i) {
      double x = static_cast<double>(from[i]) * factor / scale.temperature;
      if (scale.softcap > 0.0) x = scale.softcap * std::tanh(x / scale.softcap);
      to[i] = static_cast<T>(x);
    }
  });
  return scaled;
}

Tensor mask_scores(const Tensor& scaled_scores, const Tensor& mask_bias, std::optional<double> mask_value) {
  Tensor masked(scaled_scores.shape(), scaled_scores.dtype());
  dispatch_float(scaled_scores.dtype(), [&]<class T>() {
    const auto score = scaled_scores.values<T>();
    const auto bias = mask_bias.values<T>();
    const auto to = masked.values<T>();
    const T fill = static_cast<T>(mask_value.value_or(0.0));
    for (std::size_t i = 0; i < to.size(); ++i) {
      const bool filled = mask_value && bias[i] == -std::numeric_limits<T>::infinity();
      to[i] = filled ? fill : score[i] + bias[i];
    }
  });
  return masked;
}

Tensor weighted_sum(const Tensor& dropped_weights, const Tensor& v_heads) {
  const Index batch = dropped_weights.shape().size(0);
  const Index heads = dropped_weights.shape().size(1);
  const Index kv_heads = v_heads.shape().size(1);
  const auto& axes = dropped_weights.shape().axes();
  Tensor head_output(Shape{axes[0], axes[1], axes[2], {"Dv", v_heads.shape().size(3)}},
                     dropped_weights.dtype());
  dispatch_float(dropped_weights.dtype(), [&]<class T>() {
    for (Index n = 0; n < batch; ++n) {
      for (Index h = 0; h < heads; ++h) {
        check_cancelled();
        multiply<T>(matrix<T>(head_output, n * heads + h), matrix<T>(dropped_weights, n * heads + h),
                    matrix<T>(v_heads, n * kv_heads + kv_head_of(h, heads, kv_heads)));
      }
    }
  });
  return head_output;
}

}  // namespace headwise
