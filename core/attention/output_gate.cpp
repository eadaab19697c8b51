#include "core/attention/output_gate.h"

#include <cmath>

#include "core/tensor/eigen_maps.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

// The numbers of a row that one number of the gate multiplies.
Index columns_of_gate(const Tensor& concat, const Tensor& gate) {
  return concat.shape().size(2) / std::max<Index>(1, gate.shape().size(2));
}

}  // namespace

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

Tensor gated(const Tensor& concat, const Tensor& gate, double (*open)(double)) {
  Tensor result = Tensor::unwritten(concat.shape(), concat.dtype());
  const Index columns = columns_of_gate(concat, gate);
  dispatch_float(concat.dtype(), [&]<class T>() {
    const auto x = all_cells<T>(concat), g = all_cells<T>(gate);
    auto y = all_cells<T>(result);
    for (Index i = 0; i < y.size(); ++i)
      y[i] = static_cast<T>(static_cast<double>(x[i]) * open(static_cast<double>(g[i / columns])));
  });
  return result;
}

Tensor gate_gradient(const Tensor& grad_gated, const Tensor& concat, const Tensor& gate) {
  Tensor gradient = Tensor::unwritten(gate.shape(), gate.dtype());
  const Index columns = columns_of_gate(concat, gate);
  dispatch_float(gate.dtype(), [&]<class T>() {
    const auto dy = all_cells<T>(grad_gated), x = all_cells<T>(concat), g = all_cells<T>(gate);
    auto to = all_cells<T>(gradient);
    for (Index i = 0; i < to.size(); ++i) {
      const auto product = dy.segment(i * columns, columns).template cast<double>() *
                           x.segment(i * columns, columns).template cast<double>();
      const double open = sigmoid(static_cast<double>(g[i]));
      to[i] = static_cast<T>(product.sum() * open * (1.0 - open));
    }
  });
  return gradient;
}

TensorId rows_of_output(const TraceTensors& tensors) {
  return tensors.gated_concat ? TensorId::gated_concat : TensorId::concat;
}

}  // namespace headwise
