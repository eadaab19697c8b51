#include "core/attention/scaled_dot_product_attention.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/attention/heads.h"
#include "core/tensor/eigen_maps.h"
#include "core/tensor/error.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/progress.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// What mask_bias has where a mask blocks.
template <class T>
constexpr T blocked = -std::numeric_limits<T>::infinity();

// out[n,h] = left[n,h]·right[n,g], or ·right[n,g]ᵀ, over the last two axes.
struct HeadProducts {
  Index batch, heads, kv_heads, rows, depth, columns;
  bool transposed;

  HeadProducts(const Tensor& out, const Tensor& left, const Tensor& right, bool right_transposed)
      : batch(left.shape().size(0)),
        heads(left.shape().size(1)),
        kv_heads(right.shape().size(1)),
        rows(left.shape().size(2)),
        depth(left.shape().size(3)),
        columns(out.shape().size(3)),
        transposed(right_transposed) {
    const Shape& other = right.shape();
    const bool fit = other.size(0) == batch && kv_heads > 0 && heads % kv_heads == 0 &&
                     other.size(transposed ? 3 : 2) == depth && other.size(transposed ? 2 : 3) == columns &&
                     out.size() == batch * heads * rows * columns;
    if (!fit)
      throw Error(ExitStatus::input, {"the product of two tensors of heads", "their sizes do not fit",
                                      left.shape().to_string() + " and " + other.to_string(), "", ""});
  }

  Index count() const { return batch * heads; }
  Index right_of(Index slice) const {
    return slice / heads * kv_heads + kv_head_of(slice % heads, heads, kv_heads);
  }
  const double* left(const Tensor& from, Index slice) const {
    return from.values<double>().data() + slice * rows * depth;
  }
  const double* right(const Tensor& from, Index slice) const {
    return from.values<double>().data() + right_of(slice) * depth * columns;
  }

  std::vector<DoubleProduct> in_doubles(Tensor& out, const Tensor& from, const Tensor& other) const {
    std::vector<DoubleProduct> products;
    for (Index slice = 0; slice < count(); ++slice)
      products.push_back({.rows = rows,
                          .depth = depth,
                          .columns = columns,
                          .left = left(from, slice),
                          .left_step = depth,
                          .right = right(other, slice),
                          .right_row_step = transposed ? 1 : columns,
                          .right_column_step = transposed ? depth : 1,
                          .out = out.values<double>().data() + slice * rows * columns,
                          .out_step = columns});
    return products;
  }
};

void multiply_heads(Tensor& out, const Tensor& left, const Tensor& right, bool transposed) {
  if (out.size() == 0) return;
  const HeadProducts of(out, left, right, transposed);
  if (out.dtype() == DType::f64) return multiply_doubles(of.in_doubles(out, left, right));
  dispatch_float(out.dtype(), [&]<class T>() {
    for (Index slice = 0; slice < of.count(); ++slice) {
      const ProgressPart part = slice_of_work(slice, of.count());
      const auto other = matrix<T>(right, of.right_of(slice));
      const auto to = matrix<T>(out, slice);
      const auto from = matrix<T>(left, slice);
      if (transposed)
        multiply<T>(to, from, other.transpose());
      else
        multiply<T>(to, from, other);
    }
  });
}

ProductChange incremental_head_products(Tensor& out, const Tensor& left, const Tensor& right, bool transposed,
                                        const EarlierHeads& earlier) {
  const bool alike = out.dtype() == DType::f64 && earlier.out.dtype() == DType::f64 &&
                     left.shape().same_sizes(earlier.left.shape()) &&
                     right.shape().same_sizes(earlier.right.shape()) &&
                     out.shape().same_sizes(earlier.out.shape()) && out.size() > 0;
  if (!alike) return ProductChange::most;
  const HeadProducts of(out, left, right, transposed);
  std::vector<EarlierProduct> before;
  for (Index slice = 0; slice < of.count(); ++slice)
    before.push_back({of.left(earlier.left, slice), of.right(earlier.right, slice), nullptr,
                      earlier.out.values<double>().data() + slice * of.rows * of.columns});
  return incremental_product(of.in_doubles(out, left, right), before);
}

}  // namespace

Tensor attention_scores(const Tensor& q_heads, const Tensor& k_heads, Shape out) {
  Tensor scores = Tensor::unwritten(std::move(out), q_heads.dtype());
  multiply_heads(scores, q_heads, k_heads, true);
  return scores;
}

ProductChange incremental_attention_scores(const Tensor& q_heads, const Tensor& k_heads,
                                           const EarlierHeads& earlier, Tensor& scores) {
  return incremental_head_products(scores, q_heads, k_heads, true, earlier);
}

Tensor scale_scores(const Tensor& scores, const ScoreScale& scale) {
  Tensor scaled = Tensor::unwritten(scores.shape(), scores.dtype());
  dispatch_float(scores.dtype(), [&]<class T>() {
    const double cost = scale.is_linear() ? 2.0 * static_cast<double>(scale.steps.size()) : 30.0;
    for_ranges(scores.size(), cost, [&](Index first, Index last) {
      constexpr Index at_once = 1024;
      for (Index at = first; at < last; at += at_once) {
        const Index count = std::min(at_once, last - at);
        Eigen::ArrayXd some = all_cells<T>(scores).segment(at, count).template cast<double>();
        scale.apply(some);
        all_cells<T>(scaled).segment(at, count) = some.cast<T>();
      }
    });
  });
  return scaled;
}

Tensor mask_scores(const Tensor& scaled_scores, const Tensor& mask_bias, std::optional<double> mask_value) {
  Tensor masked = Tensor::unwritten(scaled_scores.shape(), scaled_scores.dtype());
  dispatch_float(scaled_scores.dtype(), [&]<class T>() {
    for_ranges(masked.size(), 2.0, [&](Index first, Index last) {
      const Index count = last - first;
      const auto score = all_cells<T>(scaled_scores).segment(first, count);
      const auto bias = all_cells<T>(mask_bias).segment(first, count);
      auto to = all_cells<T>(masked).segment(first, count);
      if (mask_value)
        to = (bias == blocked<T>).select(static_cast<T>(*mask_value), score + bias);
      else
        to = score + bias;
    });
  });
  return masked;
}

Tensor weighted_sum(const Tensor& dropped_weights, const Tensor& v_heads) {
  const auto& axes = dropped_weights.shape().axes();
  Tensor head_output = Tensor::unwritten(Shape{axes[0], axes[1], axes[2], {"Dv", v_heads.shape().size(3)}},
                                         dropped_weights.dtype());
  multiply_heads(head_output, dropped_weights, v_heads, false);
  return head_output;
}

ProductChange incremental_weighted_sum(const Tensor& dropped_weights, const Tensor& v_heads,
                                       const EarlierHeads& earlier, Tensor& head_output) {
  return incremental_head_products(head_output, dropped_weights, v_heads, false, earlier);
}

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

// dx = p·(dp − Σ dp·p), row by row
Tensor softmax_gradient(const Tensor& grad_attn_weights, const Tensor& attn_weights) {
  Tensor grad(attn_weights.shape(), attn_weights.dtype());
  dispatch_float(grad.dtype(), [&]<class T>() {
    auto to = all_rows<T>(grad);
    for (Index r = 0; r < to.rows(); ++r) {
      const WideRow p = wide_row<T>(attn_weights, r);
      const WideRow dp = wide_row<T>(grad_attn_weights, r);
      to.row(r) = (p * (dp - (dp * p).sum())).template cast<T>();
    }
  });
  return grad;
}

Tensor sinks_gradient(const Tensor& grad_attn_weights, const Tensor& attn_weights, const Tensor& sink_weights,
                      std::span<const Index> frozen_heads) {
  const Index heads = attn_weights.shape().size(1), queries = attn_weights.shape().size(2);
  std::vector<double> sums(static_cast<std::size_t>(heads));
  dispatch_float(attn_weights.dtype(), [&]<class T>() {
    for (Index row = 0; row < sink_weights.size(); ++row)
      sums[static_cast<std::size_t>(row / queries % heads)] -=
          sink_weights.flat(row) * (wide_row<T>(grad_attn_weights, row) * wide_row<T>(attn_weights, row)).sum();
  });
  for (const Index head : frozen_heads) sums[static_cast<std::size_t>(head)] = 0.0;
  return Tensor(Shape{{"H", heads}}, std::move(sums)).converted(attn_weights.dtype());
}

Tensor mask_scores_gradient(const Tensor& grad_masked_scores, const Tensor& mask_bias,
                            std::optional<double> mask_value) {
  Tensor grad = grad_masked_scores;
  if (!mask_value) return grad;
  dispatch_float(grad.dtype(), [&]<class T>() {
    all_cells<T>(grad) = (all_cells<T>(mask_bias) == blocked<T>).select(T{0}, all_cells<T>(grad_masked_scores));
  });
  return grad;
}

Tensor scale_scores_gradient(const Tensor& grad_scaled_scores, const Tensor& scores, const ScoreScale& scale) {
  Tensor grad(scores.shape(), scores.dtype());
  dispatch_float(grad.dtype(), [&]<class T>() {
    all_cells<T>(grad) =
        all_cells<T>(grad_scaled_scores).binaryExpr(all_cells<T>(scores), [&](T from, T score) {
          return static_cast<T>(scale.gradient(static_cast<double>(from), static_cast<double>(score)));
        });
  });
  return grad;
}

Tensor attention_scores_query_gradient(const Tensor& grad_scores, const Tensor& k_heads, const Shape& q_heads) {
  return product_with_shared(grad_scores, k_heads, q_heads, false);
}

Tensor attention_scores_key_gradient(const Tensor& grad_scores, const Tensor& q_heads, const Shape& k_heads) {
  return sum_over_group(grad_scores, q_heads, k_heads);
}

Tensor average_over_heads(const Tensor& weights) {
  const auto& axes = weights.shape().axes();
  Tensor mean = Tensor::unwritten(Shape{axes[0], axes[2], axes[3]}, weights.dtype());
  const Index heads = axes[1].size, queries = axes[2].size, keys = axes[3].size;
  dispatch_float(weights.dtype(), [&]<class T>() {
    auto to = all_rows<T>(mean);
    const auto from = all_rows<T>(weights);
    for_ranges(to.rows(), static_cast<double>(heads * keys), [&](Index first, Index last) {
      for (Index row = first; row < last; ++row) {
        Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(keys);
        for (Index h = 0; h < heads; ++h)
          sum += from.row((row / queries * heads + h) * queries + row % queries).template cast<double>();
        to.row(row) = (sum / static_cast<double>(heads)).template cast<T>();
      }
    });
  });
  return mean;
}

}  // namespace headwise
