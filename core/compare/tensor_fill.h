// Creates tensors cell by cell, in f64: used to write program variants (core/compare/program_variants.h).
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/tensor/error.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Returns the tensor whose cell [i,j,k] is value(i,j,k); `shape` has rank 3.
template <class Value>
Tensor filled3(Shape shape, const Value& value) {
  Tensor result(std::move(shape), DType::f64);
  double* cell = result.values<double>().data();
  const Shape& s = result.shape();
  for (Index i = 0; i < s.size(0); ++i)
    for (Index j = 0; j < s.size(1); ++j)
      for (Index k = 0; k < s.size(2); ++k) *cell++ = value(i, j, k);
  return result;
}

// Returns the tensor whose cell [n,h,i,j] is value(n,h,i,j); `shape` has rank 4.
template <class Value>
Tensor filled4(Shape shape, const Value& value) {
  Tensor result(std::move(shape), DType::f64);
  double* cell = result.values<double>().data();
  const Shape& s = result.shape();
  for (Index n = 0; n < s.size(0); ++n)
    for (Index h = 0; h < s.size(1); ++h)
      for (Index i = 0; i < s.size(2); ++i)
        for (Index j = 0; j < s.size(3); ++j) *cell++ = value(n, h, i, j);
  return result;
}

// Reads an f64 tensor of rank 3 or 4 by its indices. Throws Error for a cell that it does not have: a variant
// that was made for other sizes is not valid (core/compare/variant_trials.h).
class Cells {
 public:
  explicit Cells(const Tensor& tensor) : cells_(tensor.values<double>()), shape_(tensor.shape()) {}
  Index size(Index axis) const { return shape_.size(axis); }
  double operator()(Index i, Index j, Index k) const {
    return at((i * shape_.size(1) + j) * shape_.size(2) + k);
  }
  double operator()(Index n, Index h, Index i, Index j) const {
    return at(((n * shape_.size(1) + h) * shape_.size(2) + i) * shape_.size(3) + j);
  }

 private:
  double at(Index offset) const {
    if (offset < 0 || offset >= static_cast<Index>(cells_.size()))
      throw Error(ExitStatus::input, {"a cell", "it is outside the tensor", "", "", ""});
    return cells_[static_cast<std::size_t>(offset)];
  }

  std::span<const double> cells_;
  const Shape& shape_;
};

// Returns the tensor of the same shape whose cell [n,h,i,j] is value(cells of `tensor`, n, h, i, j).
template <class Value>
Tensor refilled4(const Tensor& tensor, const Value& value) {
  const Cells before(tensor);
  return filled4(tensor.shape(), [&](Index n, Index h, Index i, Index j) { return value(before, n, h, i, j); });
}

// Returns the f64 tensor after change(row) of each row of the last axis.
template <class Change>
Tensor mapped_rows(Tensor tensor, Change change) {
  const auto width = static_cast<std::size_t>(tensor.shape().size(tensor.shape().rank() - 1));
  const std::span<double> cells = tensor.values<double>();
  for (std::size_t row = 0; width > 0 && row < cells.size(); row += width) change(cells.subspan(row, width));
  return tensor;
}

// Returns the f64 tensor in which each cell is replaced by value(cell).
template <class Value>
Tensor mapped_cells(const Tensor& tensor, const Value& value) {
  Tensor result = tensor;
  for (double& cell : result.values<double>()) cell = value(cell);
  return result;
}

inline TensorPtr shared_tensor(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

// Reordered rows of a tensor, and matrices with swapped axes: building blocks of the parameter variants.

// The tensor with its outermost axis split into blocks of `rows`, block b taken from `source[b]`; the size of
// the axis follows the number of blocks.
TensorPtr with_blocks(const Tensor& tensor, Index rows, const std::vector<Index>& source);

// Orders of heads, other than their own, in which programs take them: all orders of up to five; of more, only
// those caused by typical mistakes.
std::vector<std::vector<Index>> typical_orders(Index heads);

// Transposes a square matrix, or each of several stacked ones.
TensorPtr transposed_squares(const Tensor& matrix);
bool is_stack_of_squares(const TensorPtr& matrix);

// The numbers of an [out,in] matrix in memory order, read as [in,out] and transposed; for a square one,
// its transpose.
TensorPtr read_as_in_out(const Tensor& matrix);

}  // namespace headwise
