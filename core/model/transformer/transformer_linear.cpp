#include "core/model/transformer/transformer_linear.h"

#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// Columns of y per task: this many rows of a weight 4096 wide are 2 MiB.
constexpr Index columns_at_once = 128;
// In multiply-adds; less is not worth waking a thread for.
constexpr double least_shared_work = 2e5;

}  // namespace

Rows apply_linear(const TransformerLinear& linear, const Eigen::Ref<const Rows>& x) {
  Rows y(x.rows(), linear.out);
  const auto weight = matrix<float>(*linear.weight);
  const double work =
      static_cast<double>(x.rows()) * static_cast<double>(linear.in) * static_cast<double>(linear.out);
  const Index tasks = (linear.out + columns_at_once - 1) / columns_at_once;
  run_tasks(tasks, work < least_shared_work ? 1 : available_threads(), [&](Index task, int) {
    const Index first = task * columns_at_once, count = std::min(columns_at_once, linear.out - first);
    RowMatrix<double> made =
        linear.is_conv1d
            ? blockwise_product(x, weight.middleCols(first, count))
            : blockwise_product(x, weight.middleRows(linear.first_row + first, count).transpose());
    if (linear.bias) {
      const Eigen::Map<const Eigen::RowVectorXf> bias(
          linear.bias->values<float>().data() + linear.first_bias + first, count);
      made.rowwise() += bias.cast<double>();
    }
    y.middleCols(first, count) = made.cast<float>();
  });
  return y;
}

}  // namespace headwise
