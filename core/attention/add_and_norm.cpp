#include "core/attention/add_and_norm.h"

#include <cmath>
#include <vector>

#include "core/tensor/float_dispatch.h"

namespace headwise {

Tensor add_residual(const Tensor& query, const Tensor& output) {
  Tensor sum = Tensor::unwritten(output.shape(), output.dtype());
  dispatch_float(output.dtype(), [&]<class T>() {
    const auto a = query.values<T>();
    const auto b = output.values<T>();
    for (std::size_t i = 0; i < a.size(); ++i) sum.values<T>()[i] = a[i] + b[i];
  });
  return sum;
}

Tensor layer_norm(const Tensor& x) {
  Tensor normed = Tensor::unwritten(x.shape(), x.dtype());
  if (x.size() == 0) return normed;
  const auto width = static_cast<std::size_t>(x.shape().size(x.shape().rank() - 1));
  dispatch_float(x.dtype(), [&]<class T>() {
    for (std::size_t first = 0; first < static_cast<std::size_t>(x.size()); first += width) {
      const std::span<const T> row = x.values<T>().subspan(first, width);
      double mean = 0.0;
      for (const T value : row) mean += value;
      mean /= static_cast<double>(width);
      double variance = 0.0;
      for (const T value : row) variance += (value - mean) * (value - mean);
      const double deviation = std::sqrt(variance / static_cast<double>(width) + layer_norm_epsilon);
      for (std::size_t e = 0; e < width; ++e)
        normed.values<T>()[first + e] = static_cast<T>((row[e] - mean) / deviation);
    }
  });
  return normed;
}

Tensor layer_norm_gradient(const Tensor& grad_y, const Tensor& x) {
  Tensor grad_x(x.shape(), x.dtype());
  if (x.size() == 0) return grad_x;
  const auto width = static_cast<std::size_t>(x.shape().size(x.shape().rank() - 1));
  const auto count = static_cast<double>(width);
  dispatch_float(x.dtype(), [&]<class T>() {
    std::vector<double> y(width);
    for (std::size_t first = 0; first < static_cast<std::size_t>(x.size()); first += width) {
      const std::span<const T> row = x.values<T>().subspan(first, width);
      const std::span<const T> dy = grad_y.values<T>().subspan(first, width);
      double mean = 0.0, variance = 0.0;
      for (const T value : row) mean += static_cast<double>(value) / count;
      for (const T value : row) variance += (value - mean) * (value - mean) / count;
      const double deviation = std::sqrt(variance + layer_norm_epsilon);
      double mean_dy = 0.0, mean_dy_y = 0.0;
      for (std::size_t e = 0; e < width; ++e) {
        y[e] = (row[e] - mean) / deviation;
        mean_dy += static_cast<double>(dy[e]) / count;
        mean_dy_y += static_cast<double>(dy[e]) * y[e] / count;
      }
      for (std::size_t e = 0; e < width; ++e) {
        grad_x.values<T>()[first + e] = static_cast<T>((dy[e] - mean_dy - y[e] * mean_dy_y) / deviation);
      }
    }
  });
  return grad_x;
}

}  // namespace headwise
