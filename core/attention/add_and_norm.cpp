#include "core/attention/add_and_norm.h"

#include <cmath>

#include "core/tensor/eigen_maps.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

// A row with mean 0 and variance 1 (but for epsilon), and what it was divided by.
struct Standardised {
  WideRow values;
  double deviation;
};

Standardised standardised(const WideRow& row) {
  const WideRow centred = row - row.mean();
  const double deviation = std::sqrt(centred.square().mean() + layer_norm_epsilon);
  return {centred / deviation, deviation};
}

}  // namespace

Tensor add_residual(const Tensor& query, const Tensor& output) {
  Tensor sum = Tensor::unwritten(output.shape(), output.dtype());
  dispatch_float(output.dtype(),
                 [&]<class T>() { all_cells<T>(sum) = all_cells<T>(query) + all_cells<T>(output); });
  return sum;
}

Tensor layer_norm(const Tensor& x) {
  Tensor normed = Tensor::unwritten(x.shape(), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    auto to = all_rows<T>(normed);
    for (Index r = 0; r < to.rows(); ++r)
      to.row(r) = standardised(wide_row<T>(x, r)).values.template cast<T>();
  });
  return normed;
}

Tensor layer_norm_gradient(const Tensor& grad_y, const Tensor& x) {
  Tensor grad_x(x.shape(), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    auto to = all_rows<T>(grad_x);
    for (Index r = 0; r < to.rows(); ++r) {
      const WideRow dy = wide_row<T>(grad_y, r);
      const auto [y, deviation] = standardised(wide_row<T>(x, r));
      to.row(r) = ((dy - dy.mean() - y * (dy * y).mean()) / deviation).template cast<T>();
    }
  });
  return grad_x;
}

}  // namespace headwise
