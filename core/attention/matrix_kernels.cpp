// Compiled once for each instruction set. What is not Eigen's stands in an unnamed namespace: the linker
// keeps one of two equal inline functions, whatever they were compiled for.
#include "core/attention/matrix_kernels.h"

#include <Eigen/Core>

#include "core/tensor/kernel_table.h"

namespace headwise {
namespace {

constexpr double infinity = __builtin_inf();

template <int Order>
using ConstMatrix =
    Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Order>, 0, Eigen::OuterStride<>>;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Out = Eigen::Map<Rows, 0, Eigen::OuterStride<>>;
using Row = Eigen::Array<double, 1, Eigen::Dynamic>;

// A cell of a product must not depend on how many are computed beside it, so that those of an edit equal
// those of a run from scratch. Eigen sums in the order of the depth where one kernel makes all cells, that
// for three (or two) whole vectors of columns: so columns come in multiples of three of the widest vectors,
// the last ones filled up with zeros, and a single row, which Eigen would take for a vector, comes twice.
// A test asks this of every instruction set.
constexpr Index whole_columns = 24;

template <class Left, class Right>
void multiply(const Left& left, const Right& right, Out out) {
  if (left.rows() == 1) {
    Rows twice(2, out.cols());
    multiply(left.template replicate<2, 1>().eval(), right, Out(twice.data(), 2, out.cols(), out.cols()));
    out = twice.row(0);
    return;
  }
  const Index rest = right.cols() % whole_columns, whole = right.cols() - rest;
  if (whole > 0) out.leftCols(whole).noalias() = left * right.leftCols(whole);
  if (rest == 0) return;
  Rows last = Rows::Zero(right.rows(), whole_columns), made(left.rows(), whole_columns);
  last.leftCols(rest) = right.rightCols(rest);
  made.noalias() = left * last;
  out.rightCols(rest) = made.leftCols(rest);
}

void multiply(const DoubleProduct& of) {
  // Sums are cut by these sizes: with the processor's own, bits would depend on it.
  [[maybe_unused]] static const bool same_everywhere =
      (Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20), true);
  const ConstMatrix<Eigen::RowMajor> left(of.left, of.rows, of.depth, of.left_step);
  const Out out(of.out, of.rows, of.columns, of.out_step);
  if (of.right_column_step == 1)
    multiply(left, ConstMatrix<Eigen::RowMajor>(of.right, of.depth, of.columns, of.right_row_step), out);
  else
    multiply(left, ConstMatrix<Eigen::ColMajor>(of.right, of.depth, of.columns, of.right_column_step), out);
  if (of.bias) Out(out).array().rowwise() += Eigen::Map<const Row>(of.bias, of.columns);
}

// x becomes e^(x − largest). Eigen's e^x ends at e^−709.8. Denormal results are slow: 8.5 ns a cell in place
// of 3.0 where half of the cells are masked.
void exponentiate(Row& x, double largest) {
  constexpr double vanishes = -708.0;
  x = (x - largest).max(vanishes);
  const Row powers = x.exp();
  x = (x > vanishes).select(powers, 0.0);
}

void softmax(const DoubleSoftmax& of) {
  const Eigen::Map<const Rows> scores(of.scores, of.rows, of.keys);
  Eigen::Map<Rows> weights(of.weights, of.rows, of.keys);
  Row x(of.keys);  // aligned, unlike the rows: Eigen's vectors begin in the same column everywhere
  for (Index r = 0; r < of.rows; ++r) {
    x = scores.row(r);
    double largest = x.maxCoeff<Eigen::PropagateNaN>();
    if (largest < of.sink) largest = of.sink;
    if (!__builtin_isfinite(largest)) {
      weights.row(r).setConstant(of.blocked_rows_are_zero && largest == -infinity ? 0.0 : __builtin_nan(""));
      continue;
    }
    exponentiate(x, largest);
    weights.row(r).array() = x / (x.sum() + __builtin_exp(of.sink - largest));
  }
}

double log_sum_exp(const double* row, Index keys) {
  Row x = Eigen::Map<const Row>(row, keys);
  const double largest = x.maxCoeff<Eigen::PropagateNaN>();
  if (!__builtin_isfinite(largest)) return largest;
  exponentiate(x, largest);
  return largest + __builtin_log(x.sum());
}

bool narrow(const double* from, Index count, float* to) {
  const Eigen::Map<const Eigen::ArrayXd> wide(from, count);
  Eigen::Map<Eigen::ArrayXf> rounded(to, count);
  rounded = wide.cast<float>();
  const bool all_finite = (rounded * 0.0f).sum() == 0.0f;  // Eigen 3.4 vectorises this, but no comparison
  return all_finite || !(rounded.isInf() && wide.abs() < infinity).any();
}

}  // namespace

extern const MatrixKernels HEADWISE_TABLE(matrix_kernels);
const MatrixKernels HEADWISE_TABLE(matrix_kernels) = {multiply, softmax, log_sum_exp, narrow};

}  // namespace headwise
