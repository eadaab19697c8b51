#include "core/model/transformer/transformer_parts.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/attention/attention_mask.h"
#include "core/attention/heads.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr double cost_of_activation = 40.0;  // in multiply-adds

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::gelu:
      return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2));
    case Activation::gelu_tanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::quick_gelu:
      return x / (1.0 + std::exp(-1.702 * x));
    case Activation::relu:
      return x < 0.0 ? 0.0 : x;  // NaN stays
    case Activation::silu:
      return x / (1.0 + std::exp(-x));
  }
  return x;
}

// Query rows of a task: their scores against 4096 keys are half a MiB.
constexpr Index rows_at_once = 32;
constexpr double least_shared_work = 2e5;  // in multiply-adds

// In a row of scores, those of keys [first, end) become weights, the others 0.
void softmax_row(Eigen::Ref<Eigen::RowVectorXd> row, Index first, Index end) {
  row.head(first).setZero();
  row.tail(row.size() - end).setZero();
  auto seen = row.segment(first, end - first);
  const double largest = seen.maxCoeff<Eigen::PropagateNaN>();
  seen = (seen.array() - largest).exp();
  seen /= seen.sum();
}

}  // namespace

Rows normalised(const Normalisation& norm, const Rows& x) {
  Rows y(x.rows(), x.cols());
  const auto gain = norm.gain->values<float>();
  const auto width = static_cast<double>(x.cols());
  for (Index row = 0; row < x.rows(); ++row) {
    const auto from = x.row(row).cast<double>();
    const double mean = norm.centred ? from.sum() / width : 0.0;
    const double variance = (from.array() - mean).square().sum() / width;
    const double factor = 1.0 / std::sqrt(variance + norm.epsilon);
    for (Index e = 0; e < x.cols(); ++e) {
      const double value = (static_cast<double>(x(row, e)) - mean) * factor *
                           static_cast<double>(gain[static_cast<std::size_t>(e)]);
      y(row, e) = static_cast<float>(
          norm.bias ? value + static_cast<double>(norm.bias->values<float>()[static_cast<std::size_t>(e)])
                    : value);
    }
  }
  return y;
}

void activate(Activation activation, Rows& x) {
  for_ranges(x.size(), cost_of_activation, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      x.data()[i] = static_cast<float>(activated(activation, static_cast<double>(x.data()[i])));
  });
}

Rows feed_forward(const FeedForward& parts, const Rows& x) {
  Rows inner = apply_linear(parts.in, x);
  if (parts.gate) {
    Rows gate = apply_linear(*parts.gate, x);
    activate(parts.activation, gate);
    inner.array() *= gate.array();
  } else {
    activate(parts.activation, inner);
  }
  return apply_linear(parts.out, inner);
}

Rows attend(const TransformerHeads& layout, const Rows& q, const Rows& k, const Rows& v,
            std::span<const double> gains, float* attn_weights) {
  const Index L = q.rows(), H = layout.heads, D = layout.head_dim, Dv = layout.v_head_dim;
  Rows concat(L, H * Dv);
  const Index blocks = (L + rows_at_once - 1) / rows_at_once;
  const double scale = layout.scale.value_or(1.0 / std::sqrt(static_cast<double>(D)));
  const double work = static_cast<double>(H * L) * static_cast<double>(L * (D + Dv));
  run_tasks(H * blocks, work < least_shared_work ? 1 : available_threads(), [&](Index task, int) {
    const Index h = task / blocks, g = kv_head_of(h, H, layout.kv_heads);
    const Index first = task % blocks * rows_at_once, count = std::min(rows_at_once, L - first);
    const Index keys = layout.is_causal ? first + count : L;
    RowMatrix<double> exact =
        blockwise_product(q.block(first, h * D, count, D), k.block(0, g * D, keys, D).transpose()) * scale;
    for (Index r = 0; r < count; ++r) {
      const Index i = first + r, window = layout.sliding_window.value_or(L);
      for (Index j = 0; j < keys && !layout.alibi_slopes.empty(); ++j)
        exact(r, j) += alibi_bias(layout.alibi_slopes[static_cast<std::size_t>(h)], i - j, layout.is_causal);
      const Index end = layout.is_causal ? i + 1 : std::min(keys, i + std::min(window, L));
      softmax_row(exact.row(r), std::max<Index>(0, i - std::min(window, L) + 1), end);
    }
    const Rows weights = exact.cast<float>();
    const double gain = gains.empty() ? 1.0 : gains[static_cast<std::size_t>(h)];
    concat.block(first, h * Dv, count, Dv) =
        (blockwise_product(weights, v.block(0, g * Dv, keys, Dv)) * gain).cast<float>();
    if (!attn_weights) return;
    MatrixMap<float> kept(attn_weights + (h * L + first) * L, count, L);
    kept.leftCols(keys) = weights;
    kept.rightCols(L - keys).setZero();
  });
  return concat;
}

}  // namespace headwise
