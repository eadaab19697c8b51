// The mathematics that the reference spends its time in, as Eigen expressions that are compiled once for each
// instruction set (headwise_kernels in core/CMakeLists.txt). Bits do not depend on addresses, on the number
// of threads or on a processor's caches; between instruction sets they may differ in the last place.
#pragma once

#include <cstdint>

namespace headwise {

using Index = std::int64_t;

// out(i,j) = Σ_k left(i,k)·right(k,j), plus bias(j) if there is one; for a depth of 0 only the bias. Nothing
// is skipped: 0·NaN is NaN, as in PyTorch. Rows of `left` and of `out` are contiguous, and so are either the
// rows or the columns of `right`: one of its steps is 1.
struct DoubleProduct {
  Index rows, depth, columns;
  const double* left;
  Index left_step;  // from row to row
  const double* right;
  Index right_row_step, right_column_step;
  double* out;
  Index out_step;
  const double* bias = nullptr;
};

// Rows of scores whose softmax is taken, [rows][keys] as `weights` are. A row that is −∞ throughout becomes
// NaN, as in PyTorch, or zeros. Each row has one more score, `sink`, whose weight is dropped; −∞: none.
// `weights` may be `scores`.
struct DoubleSoftmax {
  Index rows, keys;
  const double* scores;
  double* weights;
  bool blocked_rows_are_zero;
  double sink = -__builtin_inf();
};

struct MatrixKernels {
  // The bits of a cell depend on its row of `left`, its column of `right` and the depth alone: products of
  // some of the rows or columns give the same.
  void (*multiply)(const DoubleProduct& of);
  // To a few units in the last place; weights below e^−708 of the largest are 0.
  void (*softmax)(const DoubleSoftmax& of);
  // ln Σ e^x of one row that has cells; −∞, ∞ or NaN where its largest number is.
  double (*log_sum_exp)(const double* row, Index keys);
  // to = from, rounded. False if a finite number becomes infinite.
  bool (*narrow)(const double* from, Index count, float* to);
};

enum class InstructionSet;                // core/tensor/instruction_set.h
InstructionSet chosen_instruction_set();  // there, too
const MatrixKernels& matrix_kernels(InstructionSet set = chosen_instruction_set());

}  // namespace headwise
