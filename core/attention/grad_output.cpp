#include "core/attention/grad_output.h"

#include "core/attention/attention_sizes.h"
#include "core/attention/refusals.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

TensorPtr ones_like(const Tensor& last, DType dtype) {
  Tensor ones(last.shape(), dtype);
  for (Index i = 0; i < ones.size(); ++i) ones.set_flat(i, 1.0);
  return std::make_shared<const Tensor>(std::move(ones));
}

}  // namespace

TensorId last_output(const TraceTensors& t) {
  if (t.layer_norm_output) return TensorId::layer_norm_output;
  return t.residual_output ? TensorId::residual_output : TensorId::output;
}

void check_grad_output(const Tensor& given, const AttentionOptions& options, const TraceTensors& tensors,
                       DType dtype) {
  const Shape last = computed_shape(TensorId::output, options, attention_sizes(options, tensors));
  if (given.shape().same_sizes(last) && given.dtype() == dtype) return;
  throw Error(ExitStatus::input, {"grad_output", "it does not fit the last output",
                                  given.shape().sizes_text() + " " + dtype_name(given.dtype()),
                                  letters_and_sizes(last) + " " + dtype_name(dtype),
                                  likely_cause(given.shape().sizes(), last.sizes())});
}

TensorPtr resolved_grad_output(const Trace& forward, const TensorPtr& given, const Trace* previous) {
  const TensorPtr last = forward.tensor(last_output(forward.tensors));
  if (given) check_grad_output(*given, forward.options, forward.tensors, forward.dtype);
  TensorPtr grad_output = given ? given : ones_like(*last, forward.dtype);
  const TensorPtr earlier = previous ? previous->tensor({last_output(previous->tensors), true}) : nullptr;
  return earlier && identical(*earlier, *grad_output) ? earlier : grad_output;
}

}  // namespace headwise
