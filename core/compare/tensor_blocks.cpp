#include "core/compare/tensor_blocks.h"

#include <utility>

#include "core/compare/tensor_fill.h"

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
