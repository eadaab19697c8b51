// What a backward pass starts from.
#pragma once

#include "core/attention/trace.h"

namespace headwise {

// The tensor that the loss is a weighted sum of: the last of output, residual_output and layer_norm_output
// that exists.
TensorId last_output(const TraceTensors& tensors);

// Throws Error(input) unless `given` has the shape and the type of the last output of such a trace.
void check_grad_output(const Tensor& given, const AttentionOptions& options, const TraceTensors& tensors,
                       DType dtype);

// The gradient of the last output: `given`, or all ones if that is null. Throws like
// check_grad_output. If `previous` (may be null) started from an equal one, that one
// is used instead: equal sources share their gradients.
TensorPtr resolved_grad_output(const Trace& forward, const TensorPtr& given, const Trace* previous);

}  // namespace headwise
