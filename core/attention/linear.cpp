#include "core/attention/linear.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/attention/matrix_product.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

// Rows of x that are widened to double at a time: bounds the memory beside x and y.
constexpr Index block_rows = 512;

// `x`, `weight` and `bias` (may be null) as they lie in memory.
DoubleProduct affine(const double* x, Index count, const double* weight, const double* bias,
                     Index in_features, Index out_features, double* y) {
  return {.rows = count,
          .depth = in_features,
          .columns = out_features,
          .left = x,
          .left_step = in_features,
          .right = weight,
          .right_row_step = 1,
          .right_column_step = in_features,
          .out = y,
          .out_step = out_features,
          .bias = bias};
}

template <class T>
void linear_into(Tensor& y, const Tensor& x, const LinearRows& rows) {
  const Index out_features = y.shape().size(y.shape().rank() - 1);
  const Index in_features = rows.weight->shape().size(1);
  if (y.size() == 0) return;
  const Index count = y.size() / out_features;
  const T* const weight = rows.weight->values<T>().data() + rows.first_weight_row * in_features;
  const T* const bias = rows.bias ? rows.bias->values<T>().data() + rows.first_bias_entry : nullptr;
  const T* const from = x.values<T>().data();
  T* const to = y.values<T>().data();
  if constexpr (std::is_same_v<T, double>) {
    const DoubleProduct product = affine(from, count, weight, bias, in_features, out_features, to);
    multiply_doubles({&product, 1});
  } else {
    const std::vector<double> wide_weight(weight, weight + out_features * in_features);
    std::vector<double> wide_bias;
    if (bias) wide_bias.assign(bias, bias + out_features);
    for (Index first = 0; first < count; first += block_rows) {
      const Index block = std::min(block_rows, count - first);
      const ProgressPart part = slice_of_work(first / block_rows, (count + block_rows - 1) / block_rows);
      const std::vector<double> wide_x(from + first * in_features, from + (first + block) * in_features);
      RowMatrix<double> wide_y(block, out_features);
      const DoubleProduct product =
          affine(wide_x.data(), block, wide_weight.data(), bias ? wide_bias.data() : nullptr, in_features,
                 out_features, wide_y.data());
      multiply_doubles({&product, 1});
      MatrixMap<T>(to + first * out_features, block, out_features) = wide_y.template cast<T>();
    }
  }
}

}  // namespace

namespace {

struct Run {
  Index first, count;
};

// Neighbours that changed, as runs; `changed(i)` for i < count.
template <class Changed>
std::vector<Run> changed_runs(Index count, Changed changed) {
  std::vector<Run> runs;
  for (Index i = 0; i < count; ++i) {
    if (!changed(i)) continue;
    if (!runs.empty() && runs.back().first + runs.back().count == i)
      ++runs.back().count;
    else
      runs.push_back({i, 1});
  }
  return runs;
}

Index total(const std::vector<Run>& runs) {
  Index count = 0;
  for (const Run& run : runs) count += run.count;
  return count;
}

bool same_bytes(const double* a, const double* b, Index count) {
  return a == b || std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(double)) == 0;
}

}  // namespace

LinearChange linear_beside(const Tensor& x, const LinearRows& rows, const EarlierLinear& earlier, Tensor& y) {
  const Tensor& before = earlier.y;
  const bool alike = x.dtype() == DType::f64 && before.dtype() == DType::f64 &&
                     x.shape().same_sizes(earlier.x.shape()) && y.shape().same_sizes(before.shape()) &&
                     !rows.bias == !earlier.rows.bias && y.size() > 0 &&
                     rows.weight->shape().size(1) == earlier.rows.weight->shape().size(1);
  if (!alike) return LinearChange::most;
  const Index out_features = y.shape().size(y.shape().rank() - 1), in_features = rows.weight->shape().size(1);
  const Index count = y.size() / out_features;
  const auto weight_of = [&](const LinearRows& of) {
    return of.weight->values<double>().data() + of.first_weight_row * in_features;
  };
  const auto bias_of = [](const LinearRows& of) {
    return of.bias ? of.bias->values<double>().data() + of.first_bias_entry : nullptr;
  };
  const double* const from = x.values<double>().data();
  const double* const from_before = earlier.x.values<double>().data();
  const double *const weight = weight_of(rows), *const weight_before = weight_of(earlier.rows);
  const double *const bias = bias_of(rows), *const bias_before = bias_of(earlier.rows);
  const std::vector<Run> new_rows = changed_runs(count, [&](Index row) {
    return !same_bytes(from + row * in_features, from_before + row * in_features, in_features);
  });
  const std::vector<Run> new_columns = changed_runs(out_features, [&](Index column) {
    return !same_bytes(weight + column * in_features, weight_before + column * in_features, in_features) ||
           (bias && !same_bytes(bias + column, bias_before + column, 1));
  });
  if (new_rows.empty() && new_columns.empty()) return LinearChange::none;
  if (4 * total(new_rows) > count || 4 * total(new_columns) > out_features) return LinearChange::most;

  double* const to = y.values<double>().data();
  std::ranges::copy(before.values<double>(), to);
  std::vector<DoubleProduct> products;
  for (const Run& run : new_columns) {
    DoubleProduct product = affine(from, count, weight + run.first * in_features,
                                   bias ? bias + run.first : nullptr, in_features, run.count, to + run.first);
    product.out_step = out_features;
    products.push_back(product);
  }
  multiply_doubles(products);
  products.clear();  // rows after columns: where they cross both are the new number, but one write at a time
  for (const Run& run : new_rows)
    products.push_back(affine(from + run.first * in_features, run.count, weight, bias, in_features,
                              out_features, to + run.first * out_features));
  multiply_doubles(products);
  return LinearChange::some;
}

Tensor linear(const Tensor& x, const LinearRows& rows, Shape out) {
  Tensor y(std::move(out), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() { linear_into<T>(y, x, rows); });
  return y;
}

}  // namespace headwise
