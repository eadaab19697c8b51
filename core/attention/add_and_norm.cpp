#include "core/attention/add_and_norm.h"

#include "core/tensor/float_dispatch.h"

namespace headwise {

Tensor add_residual(const Tensor& query, const Tensor& output) {
  Tensor sum = Tensor::unwritten(output.shape(), output.dtype());
  dispatch_float(output.dtype(),
                 [&]<class T>() { all_cells<T>(sum) = all_cells<T>(query) + all_cells<T>(output); });
  return sum;
}

}  // namespace headwise
