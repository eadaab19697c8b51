#include "core/attention/output_by_heads.h"

#include <cmath>

#include "core/tensor/cancellation.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

// Calls take(row, e, h, part) for every part of every cell, where `row` is a flat index over (N,L).
template <class T, class Take>
void visit_parts(const Tensor& concat, const Tensor& weight, Index heads, Take&& take) {
  const Index joined = concat.shape().size(2);  // H·Dv
  const Index rows = concat.shape().size(0) * concat.shape().size(1);
  const Index outputs = weight.shape().size(0);  // E
  const Index width = joined / heads;            // Dv
  for (Index row = 0; row < rows; ++row) {
    check_cancelled();
    for (Index e = 0; e < outputs; ++e) {
      const T* x = concat.values<T>().data() + row * joined;
      const T* w = weight.values<T>().data() + e * joined;
      for (Index h = 0; h < heads; ++h) {
        double part = 0.0;
        for (Index i = 0; i < width; ++i) part += static_cast<double>(*x++) * static_cast<double>(*w++);
        take(row, e, h, part);
      }
    }
  }
}

}  // namespace

Tensor output_by_heads(const Tensor& concat, const Tensor& out_proj_weight, Index heads) {
  const Index outputs = out_proj_weight.shape().size(0);
  Tensor parts(
      Shape{concat.shape().axes()[0], concat.shape().axes()[1], {"H", heads}, out_proj_weight.shape().axes()[0]},
      concat.dtype());
  dispatch_float(concat.dtype(), [&]<class T>() {
    const auto to = parts.values<T>();
    visit_parts<T>(concat, out_proj_weight, heads, [&](Index row, Index e, Index h, double part) {
      to[static_cast<std::size_t>((row * heads + h) * outputs + e)] = static_cast<T>(part);
    });
  });
  return parts;
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
  std::vector<double> magnitudes(static_cast<std::size_t>(heads) + 1, 0.0);
  dispatch_float(concat.dtype(), [&]<class T>() {
    visit_parts<T>(concat, out_proj_weight, heads, [&](Index, Index, Index h, double part) {
      magnitudes[static_cast<std::size_t>(h)] += std::abs(part);
    });
  });
  const Index rows = concat.shape().size(0) * concat.shape().size(1);
  for (Index e = 0; out_proj_bias && e < out_proj_bias->size(); ++e)
    magnitudes.back() += static_cast<double>(rows) * std::abs(out_proj_bias->flat(e));
  return magnitudes;
}

}  // namespace headwise
