// Eigen views onto the last two axes of a tensor. Nothing is copied.
#pragma once

#include <Eigen/Core>
#include <utility>

#include "core/tensor/tensor.h"

namespace headwise {

template <class T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using MatrixMap = Eigen::Map<RowMatrix<T>>;
template <class T>
using ConstMatrixMap = Eigen::Map<const RowMatrix<T>>;

template <class T>
using CellMap = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using ConstCellMap = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

// The slice-th (rows, cols) matrix of the tensor: `slice` is the flat index over the leading axes. A tensor
// of rank 1 is one row.
template <class T>
ConstMatrixMap<T> matrix(const Tensor& tensor, Index slice = 0) {
  const Index rank = tensor.shape().rank();
  const Index cols = rank == 0 ? 1 : tensor.shape().size(rank - 1);
  const Index rows = rank < 2 ? 1 : tensor.shape().size(rank - 2);
  return {tensor.values<T>().data() + slice * rows * cols, rows, cols};
}
template <class T>
MatrixMap<T> matrix(Tensor& tensor, Index slice = 0) {
  const ConstMatrixMap<T> as_const = matrix<T>(std::as_const(tensor), slice);
  return {const_cast<T*>(as_const.data()), as_const.rows(), as_const.cols()};
}

// The whole tensor, all leading axes as rows.
template <class T>
ConstMatrixMap<T> all_rows(const Tensor& tensor) {
  const Index cols = tensor.shape().size(tensor.shape().rank() - 1);
  return {tensor.values<T>().data(), cols == 0 ? 0 : tensor.size() / cols, cols};
}
template <class T>
MatrixMap<T> all_rows(Tensor& tensor) {
  const ConstMatrixMap<T> as_const = all_rows<T>(std::as_const(tensor));
  return {const_cast<T*>(as_const.data()), as_const.rows(), as_const.cols()};
}

// All cells in memory order.
template <class T>
ConstCellMap<T> all_cells(const Tensor& tensor) {
  return {tensor.values<T>().data(), tensor.size()};
}
template <class T>
CellMap<T> all_cells(Tensor& tensor) {
  return {tensor.values<T>().data(), tensor.size()};
}

// A row of all_rows in double.
using WideRow = Eigen::Array<double, 1, Eigen::Dynamic>;
template <class T>
WideRow wide_row(const Tensor& tensor, Index row) {
  return all_rows<T>(tensor).row(row).array().template cast<double>();
}

}  // namespace headwise
