#include "core/attention/heads.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cancellation.h"
#include "core/tensor/eigen_maps.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

// (N,G,S,W) → (N,H,S,W), head h copied from source(h).
template <class Source>
Tensor copied_heads(const Tensor& x, Index heads, const Source& source) {
  const Index batch = x.shape().size(0), kv_heads = x.shape().size(1);
  Tensor out = Tensor::unwritten(Shape{{"N", batch}, {"H", heads}, x.shape().axes()[2], x.shape().axes()[3]},
                                 x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    for (Index n = 0; n < batch; ++n)
      for (Index h = 0; h < heads; ++h)
        matrix<T>(out, n * heads + h) = matrix<T>(x, n * kv_heads + source(h));
  });
  return out;
}

}  // namespace

Tensor split_heads(const Tensor& x, Index heads, const char* head_axis, const char* width_axis) {
  const Index batch = x.shape().size(0), width = x.shape().size(2) / heads;
  Tensor out = Tensor::unwritten(
      Shape{{"N", batch}, {head_axis, heads}, x.shape().axes()[1], {width_axis, width}}, x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    for (Index n = 0; n < batch; ++n)
      for (Index h = 0; h < heads; ++h)
        matrix<T>(out, n * heads + h) = matrix<T>(x, n).middleCols(h * width, width);
  });
  return out;
}

Tensor clip(const Tensor& x, double bound) {
  Tensor clipped = Tensor::unwritten(x.shape(), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    const auto from = all_cells<T>(x);
    const T most = static_cast<T>(bound);
    all_cells<T>(clipped) = (from > most).select(most, (from < -most).select(-most, from));  // NaN stays
  });
  return clipped;
}

Tensor clip_gradient(const Tensor& gradient, const Tensor& x, double bound) {
  Tensor passed = Tensor::unwritten(x.shape(), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    all_cells<T>(passed) =
        (all_cells<T>(x).abs() <= static_cast<T>(bound)).select(all_cells<T>(gradient), T{0});
  });
  return passed;
}

Tensor merge_heads(const Tensor& x, const Tensor* gain, const char* joined_axis) {
  const Index batch = x.shape().size(0), heads = x.shape().size(1), width = x.shape().size(3);
  Tensor out =
      Tensor::unwritten(Shape{{"N", batch}, x.shape().axes()[2], {joined_axis, heads * width}}, x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    for (Index n = 0; n < batch; ++n) {
      for (Index h = 0; h < heads; ++h) {
        auto to = matrix<T>(out, n).middleCols(h * width, width);
        to = matrix<T>(x, n * heads + h);
        if (gain) to *= all_cells<T>(*gain)[h];
      }
    }
  });
  return out;
}

Tensor repeat_kv(const Tensor& x, Index heads) {
  const Index kv_heads = x.shape().size(1);
  return copied_heads(x, heads, [&](Index h) { return kv_head_of(h, heads, kv_heads); });
}

Tensor tile_kv(const Tensor& x, Index heads) {
  const Index kv_heads = x.shape().size(1);
  return copied_heads(x, heads, [&](Index h) { return h % kv_heads; });
}

Tensor merge_heads_gradient(const Tensor& grad_concat, const Tensor* gain, const Shape& head_output) {
  const Index heads = head_output.size(1);
  Tensor grad = split_heads(grad_concat, heads, "H", "Dv");
  if (!gain) return grad;
  dispatch_float(grad.dtype(), [&]<class T>() {
    for (Index slice = 0; slice < head_output.size(0) * heads; ++slice)
      matrix<T>(grad, slice) *= all_cells<T>(*gain)[slice % heads];
  });
  return grad;
}

Tensor head_gain_gradient(const Tensor& grad_concat, const Tensor& head_output, const Shape& gain) {
  Tensor grad_gain(gain, grad_concat.dtype());
  const Index heads = head_output.shape().size(1);
  const Tensor grad_heads = split_heads(grad_concat, heads, "H", "Dv");
  Eigen::ArrayXd sums = Eigen::ArrayXd::Zero(heads);
  dispatch_float(grad_concat.dtype(), [&]<class T>() {
    for (Index slice = 0; slice < head_output.shape().size(0) * heads; ++slice)
      sums[slice % heads] += matrix<T>(grad_heads, slice)
                                 .template cast<double>()
                                 .cwiseProduct(matrix<T>(head_output, slice).template cast<double>())
                                 .sum();
  });
  for (Index h = 0; h < heads; ++h) grad_gain.set_flat(h, sums[h]);
  return grad_gain;
}

namespace {

Index length_of(const Shape& shape) {
  return shape.size(shape.rank() - 2);
}

// Copies `count` rows of each head, or batch entry, from row `from` of x to row `to` of out.
void copy_rows(const Tensor& x, Index from, Tensor& out, Index to, Index count) {
  const Index slices = x.shape().size(0) * (x.shape().rank() == 4 ? x.shape().size(1) : 1);
  dispatch_float(x.dtype(), [&]<class T>() {
    for (Index slice = 0; slice < slices; ++slice)
      matrix<T>(out, slice).middleRows(to, count) = matrix<T>(x, slice).middleRows(from, count);
  });
}

}  // namespace

Tensor with_past(const Tensor& past, const Tensor& rows, const char* axis) {
  const Index before = length_of(past.shape()), length = length_of(rows.shape());
  std::vector<Axis> axes = rows.shape().axes();
  axes[axes.size() - 2] = {axis, before + length};
  Tensor present = Tensor::unwritten(Shape(std::move(axes)), rows.dtype());
  copy_rows(past, 0, present, 0, before);
  copy_rows(rows, 0, present, before, length);
  return present;
}

Tensor rows_of_present(const Tensor& present, Index first, const Shape& shape) {
  Tensor rows = Tensor::unwritten(shape, present.dtype());
  copy_rows(present, first, rows, 0, length_of(shape));
  return rows;
}

double OutputCellByHeads::share(double addend) const {
  return magnitude == 0.0 ? 0.0 : std::abs(addend) / magnitude;
}

OutputCellByHeads output_cell_by_heads(const Tensor& concat, const Tensor& out_proj_weight,
                                       const Tensor* out_proj_bias, Index heads, Index n, Index l, Index e) {
  const Index joined = concat.shape().size(2);
  const Index width = joined / heads;
  const Index x = concat.shape().offset(std::vector<Index>{n, l, 0});
  OutputCellByHeads cell;
  cell.bias = out_proj_bias ? out_proj_bias->at({e}) : 0.0;
  cell.output = cell.bias;
  cell.magnitude = std::abs(cell.bias);
  for (Index h = 0; h < heads; ++h) {
    double part = 0.0;
    for (Index column = h * width; column < (h + 1) * width; ++column)
      part += concat.flat(x + column) * out_proj_weight.flat(e * joined + column);
    cell.heads.push_back(part);
    cell.output += part;
    cell.magnitude += std::abs(part);
  }
  return cell;
}

std::vector<double> output_magnitudes_by_heads(const Tensor& concat, const Tensor& out_proj_weight,
                                               const Tensor* out_proj_bias, Index heads) {
  const Index joined = concat.shape().size(2);  // H·Dv
  const Index rows = concat.shape().size(0) * concat.shape().size(1);
  const Index outputs = out_proj_weight.shape().size(0);  // E
  std::vector<double> magnitudes(static_cast<std::size_t>(heads) + 1, 0.0);
  dispatch_float(concat.dtype(), [&]<class T>() {
    for (Index row = 0; row < rows; ++row) {
      check_cancelled();
      for (Index e = 0; e < outputs; ++e) {
        const T* x = concat.values<T>().data() + row * joined;
        const T* w = out_proj_weight.values<T>().data() + e * joined;
        for (Index h = 0; h < heads; ++h) {
          double part = 0.0;
          for (Index i = 0; i < joined / heads; ++i)
            part += static_cast<double>(*x++) * static_cast<double>(*w++);
          magnitudes[static_cast<std::size_t>(h)] += std::abs(part);
        }
      }
    }
  });
  for (Index e = 0; out_proj_bias && e < out_proj_bias->size(); ++e)
    magnitudes.back() += static_cast<double>(rows) * std::abs(out_proj_bias->flat(e));
  return magnitudes;
}

}  // namespace headwise
