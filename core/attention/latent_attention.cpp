#include "core/attention/latent_attention.h"

#include <utility>
#include <vector>

#include "core/attention/linear.h"
#include "core/attention/matrix_product.h"
#include "core/attention/norm.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/eigen_maps.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

// Where a head's W_UK and W_UV begin, in rows of kv_b_proj.weight or in columns of kv_b.
struct HeadPlace {
  Index keys, values;
};
HeadPlace place_of(Index head, Index nope, Index v_head_dim) {
  const Index first = head * (nope + v_head_dim);
  return {first, first + nope};
}

// f(slice, place) for each head of each batch entry.
template <class F>
void each_head(const AttentionSizes& s, F&& f) {
  for (Index slice = 0; slice < s.batch * s.heads; ++slice) {
    check_cancelled();
    f(slice, place_of(slice % s.heads, s.nope, s.v_head_dim));
  }
}

enum class Part { keys, values };

// x (N,H,L,…) times each head's W_UK or W_UV, transposed or not, in rows of `width` columns. What is rotated
// by position, the last R columns of a query, stays as it is beside the product with W_UK.
Tensor times_head(const Tensor& x, const Tensor& kv_b_weight, Part part, bool transposed, const Axis& width,
                  const AttentionSizes& s) {
  const bool keys = part == Part::keys;
  const Index rows = keys ? s.nope : s.v_head_dim, rotated = keys ? s.rope : 0;
  std::vector<Axis> axes = x.shape().axes();
  axes[3] = width;
  Tensor out = Tensor::unwritten(Shape(std::move(axes)), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    const auto weight = all_rows<T>(kv_b_weight);
    each_head(s, [&](Index slice, const HeadPlace& at) {
      const auto of_head = weight.middleRows(keys ? at.keys : at.values, rows);
      const auto from = matrix<T>(x, slice);
      auto to = matrix<T>(out, slice);
      const auto multiplied = from.leftCols(from.cols() - rotated);
      auto made = to.leftCols(to.cols() - rotated);
      if (transposed)
        made = product(multiplied, of_head.transpose()).template cast<T>();
      else
        made = product(multiplied, of_head).template cast<T>();
      to.rightCols(rotated) = from.rightCols(rotated);
    });
  });
  return out;
}

}  // namespace

Tensor compressed_queries(const Tensor& query, const Tensor& weight, const Tensor* bias,
                          const Tensor* norm_weight, const AttentionOptions& options, const AttentionSizes& s) {
  const Tensor q_a = linear(query, {&weight, 0, bias, 0}, computed_shape(TensorId::q_a, options, s));
  return normalised(q_a, norm_weight, latent_norm_of(options));
}

Tensor columns_of(const Tensor& x, Index first, const Shape& shape) {
  Tensor out = Tensor::unwritten(shape, x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    auto to = all_rows<T>(out);
    to = all_rows<T>(x).middleCols(first, to.cols());
  });
  return out;
}

Tensor side_by_side(const Tensor& left, const Tensor& right, const Shape& shape) {
  Tensor out = Tensor::unwritten(shape, left.dtype());
  dispatch_float(left.dtype(), [&]<class T>() {
    const auto l = all_rows<T>(left), r = all_rows<T>(right);
    auto to = all_rows<T>(out);
    to.leftCols(l.cols()) = l;
    to.rightCols(r.cols()) = r;
  });
  return out;
}

Tensor as_one_head(const Tensor& latents) {
  const std::vector<Axis>& axes = latents.shape().axes();
  return latents.reshaped({axes[0], {"1", 1}, axes[1], axes[2]});
}

Tensor expanded_keys(const Tensor& kv_b, const Tensor& k_rot, const Shape& k_heads, Index v_head_dim) {
  Tensor keys = Tensor::unwritten(k_heads, kv_b.dtype());
  const Index heads = k_heads.size(1), rope = k_rot.shape().size(3), nope = k_heads.size(3) - rope;
  dispatch_float(kv_b.dtype(), [&]<class T>() {
    for (Index slice = 0; slice < k_heads.size(0) * heads; ++slice) {
      auto to = matrix<T>(keys, slice);
      const Index n = slice / heads, first = place_of(slice % heads, nope, v_head_dim).keys;
      to.leftCols(nope) = matrix<T>(kv_b, n).middleCols(first, nope);
      to.rightCols(rope) = matrix<T>(k_rot, n);
    }
  });
  return keys;
}

Tensor expanded_values(const Tensor& kv_b, const Shape& v_heads) {
  Tensor values = Tensor::unwritten(v_heads, kv_b.dtype());
  const Index heads = v_heads.size(1), width = v_heads.size(3);
  const Index nope = kv_b.shape().size(2) / heads - width;
  dispatch_float(kv_b.dtype(), [&]<class T>() {
    for (Index slice = 0; slice < v_heads.size(0) * heads; ++slice)
      matrix<T>(values, slice) =
          matrix<T>(kv_b, slice / heads).middleCols(place_of(slice % heads, nope, width).values, width);
  });
  return values;
}

Tensor expanded_gradient(const Tensor& grad_keys, const Tensor& grad_values, const Shape& kv_b) {
  Tensor gradient = Tensor::unwritten(kv_b, grad_keys.dtype());
  const Index heads = grad_keys.shape().size(1), width = grad_values.shape().size(3);
  const Index nope = kv_b.size(2) / heads - width;
  dispatch_float(grad_keys.dtype(), [&]<class T>() {
    for (Index slice = 0; slice < kv_b.size(0) * heads; ++slice) {
      auto to = matrix<T>(gradient, slice / heads);
      const HeadPlace at = place_of(slice % heads, nope, width);
      to.middleCols(at.keys, nope) = matrix<T>(grad_keys, slice).leftCols(nope);
      to.middleCols(at.values, width) = matrix<T>(grad_values, slice);
    }
  });
  return gradient;
}

Tensor shared_key_gradient(const Tensor& grad_keys, const Shape& k_rot) {
  Tensor gradient = Tensor::unwritten(k_rot, grad_keys.dtype());
  const Index heads = grad_keys.shape().size(1);
  dispatch_float(grad_keys.dtype(), [&]<class T>() {
    for (Index n = 0; n < k_rot.size(0); ++n) {
      RowMatrix<double> sum = RowMatrix<double>::Zero(k_rot.size(2), k_rot.size(3));
      for (Index h = 0; h < heads; ++h)
        sum += matrix<T>(grad_keys, n * heads + h).rightCols(k_rot.size(3)).template cast<double>();
      matrix<T>(gradient, n) = sum.template cast<T>();
    }
  });
  return gradient;
}

Tensor absorbed_queries(const Tensor& q, const Tensor& kv_b_weight, const AttentionSizes& s) {
  return times_head(q, kv_b_weight, Part::keys, false, {"C+R", s.latent + s.rope}, s);
}

Tensor absorbed_queries_gradient(const Tensor& grad_absorbed, const Tensor& kv_b_weight, const Shape& q,
                                 const AttentionSizes& s) {
  return times_head(grad_absorbed, kv_b_weight, Part::keys, true, q.axes()[3], s);
}

Tensor values_of_latents(const Tensor& latent_output, const Tensor& kv_b_weight, const AttentionSizes& s) {
  return times_head(latent_output, kv_b_weight, Part::values, true, {"Dv", s.v_head_dim}, s);
}

Tensor values_of_latents_gradient(const Tensor& grad_head_output, const Tensor& kv_b_weight,
                                  const AttentionSizes& s) {
  return times_head(grad_head_output, kv_b_weight, Part::values, false, {"C", s.latent}, s);
}

Tensor absorbed_weight_gradient(const Tensor& q, const Tensor& grad_absorbed, const Tensor& latent_output,
                                const Tensor& grad_head_output, const Shape& kv_b_weight,
                                const AttentionSizes& s) {
  Tensor gradient = Tensor::unwritten(kv_b_weight, q.dtype());
  RowMatrix<double> sum = RowMatrix<double>::Zero(kv_b_weight.size(0), kv_b_weight.size(1));
  dispatch_float(q.dtype(), [&]<class T>() {
    each_head(s, [&](Index slice, const HeadPlace& at) {
      sum.middleRows(at.keys, s.nope) += product(matrix<T>(q, slice).leftCols(s.nope).transpose(),
                                                 matrix<T>(grad_absorbed, slice).leftCols(s.latent));
      sum.middleRows(at.values, s.v_head_dim) +=
          product(matrix<T>(grad_head_output, slice).transpose(), matrix<T>(latent_output, slice));
    });
    all_rows<T>(gradient) = sum.template cast<T>();
  });
  return gradient;
}

}  // namespace headwise
