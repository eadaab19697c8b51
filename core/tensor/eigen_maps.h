// Eigen views onto the last two axes of a tensor. Nothing is copied.
#pragma once

#include <Eigen/Core>

#include "core/tensor/tensor.h"

namespace headwise {

template <class T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using MatrixMap = Eigen::Map<RowMatrix<T>>;
template <class T>
using ConstMatrixMap = Eigen::Map<const RowMatrix<T>>;

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
  const Index rank = tensor.shape().rank();
  const Index cols = rank == 0 ? 1 : tensor.shape().size(rank - 1);
  const Index rows = rank < 2 ? 1 : tensor.shape().size(rank - 2);
  return {tensor.values<T>().data() + slice * rows * cols, rows, cols};
}

}  // namespace headwise
