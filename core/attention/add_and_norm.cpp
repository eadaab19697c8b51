#include "core/attention/add_and_norm.h"

#include <cmath>

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

}  // namespace headwise
