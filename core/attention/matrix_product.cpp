#include "core/attention/matrix_product.h"

namespace headwise {

RowMatrix<double> double_product(const RowMatrix<double>& left, const RowMatrix<double>& right) {
  if (left.rows() == 0 || left.cols() == 0 || right.cols() == 0) {
    return RowMatrix<double>::Zero(left.rows(), right.cols());
  }
  return left * right;
}

}  // namespace headwise
