// Rows of a tensor in another order, and matrices read the other way round: what variants of parameters are made with.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace headwise {

// The tensor with its outermost axis in blocks of `rows`, block b taken from `source[b]`; the axis changes its
// size with the number of blocks.
TensorPtr with_blocks(const Tensor& tensor, Index rows, const std::vector<Index>& source);

// A square matrix, or several stacked: each transposed.
TensorPtr transposed_squares(const Tensor& matrix);
bool is_stack_of_squares(const TensorPtr& matrix);

// The numbers of an [out,in] matrix as they lie, read as [in,out] and transposed; of a square one, its transpose.
TensorPtr read_as_in_out(const Tensor& matrix);

}  // namespace headwise
