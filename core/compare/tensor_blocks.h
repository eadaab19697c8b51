// Reordered rows of a tensor, and matrices with swapped axes: building blocks of the parameter variants.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace headwise {

// The tensor with its outermost axis split into blocks of `rows`, block b taken from `source[b]`; the size of the axis
// follows the number of blocks.
TensorPtr with_blocks(const Tensor& tensor, Index rows, const std::vector<Index>& source);

// Orders of heads, other than their own, in which programs take them: all orders of up to five; of more, only
// those caused by typical mistakes.
std::vector<std::vector<Index>> typical_orders(Index heads);

// Transposes a square matrix, or each of several stacked ones.
TensorPtr transposed_squares(const Tensor& matrix);
bool is_stack_of_squares(const TensorPtr& matrix);

// The numbers of an [out,in] matrix in memory order, read as [in,out] and transposed; for a square one, its transpose.
TensorPtr read_as_in_out(const Tensor& matrix);

}  // namespace headwise
