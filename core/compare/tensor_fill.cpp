#include "core/compare/tensor_fill.h"

#include <algorithm>
#include <numeric>

namespace headwise {

TensorPtr with_blocks(const Tensor& tensor, Index rows, const std::vector<Index>& source) {
  std::vector<Axis> axes = tensor.shape().axes();
  const Index width = axes[0].size == 0 ? 0 : tensor.size() / axes[0].size;
  axes[0].size = rows * static_cast<Index>(source.size());
  Tensor result(Shape(std::move(axes)), tensor.dtype());
  const Index block = rows * width;
  for (std::size_t b = 0; b < source.size(); ++b) {
    for (Index i = 0; i < block; ++i)
      result.set_flat(static_cast<Index>(b) * block + i, tensor.flat(source[b] * block + i));
  }
  return shared_tensor(std::move(result));
}

std::vector<std::vector<Index>> typical_orders(Index heads) {
  constexpr Index all_orders = 5;
  std::vector<Index> order(static_cast<std::size_t>(heads));
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<std::vector<Index>> orders;
  if (heads <= all_orders) {
    while (std::ranges::next_permutation(order).found) orders.push_back(order);
    return orders;
  }
  orders.emplace_back(order.rbegin(), order.rend());
  for (const Index by : {Index{1}, heads - 1, heads / 2}) {
    std::vector<Index> turned;
    for (Index h = 0; h < heads; ++h) turned.push_back((h + by) % heads);
    orders.push_back(std::move(turned));
  }
  for (Index groups = 2; groups < heads; ++groups) {  // (H/G,G) for (G,H/G)
    if (heads % groups != 0) continue;
    std::vector<Index> source;
    for (Index h = 0; h < heads; ++h) source.push_back(h % groups * (heads / groups) + h / groups);
    orders.push_back(std::move(source));
  }
  for (Index a = 0; a < heads; ++a) {
    for (Index b = a + 1; b < heads; ++b) {
      std::vector<Index> swapped = order;
      std::swap(swapped[static_cast<std::size_t>(a)], swapped[static_cast<std::size_t>(b)]);
      orders.push_back(std::move(swapped));
    }
  }
  return orders;
}

TensorPtr transposed_squares(const Tensor& matrix) {
  const Index width = matrix.shape().size(1);
  Tensor result = matrix;
  for (Index row = 0; row < matrix.shape().size(0); ++row) {
    for (Index column = 0; column < width; ++column) {
      const Index first = row / width * width;
      result.set_flat((first + column) * width + row - first, matrix.flat(row * width + column));
    }
  }
  return shared_tensor(std::move(result));
}

bool is_stack_of_squares(const TensorPtr& matrix) {
  return matrix && matrix->shape().size(1) > 1 && matrix->shape().size(0) % matrix->shape().size(1) == 0;
}

TensorPtr read_as_in_out(const Tensor& matrix) {
  const Index rows = matrix.shape().size(0), columns = matrix.shape().size(1);
  Tensor result = matrix;
  for (Index o = 0; o < rows; ++o) {
    for (Index i = 0; i < columns; ++i) result.set_flat(o * columns + i, matrix.flat(i * rows + o));
  }
  return shared_tensor(std::move(result));
}

}  // namespace headwise
