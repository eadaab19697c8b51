// What a backward pass starts from.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// The tensor that the loss is a weighted sum of: layer_norm_output, residual_output or output, the last that
// there is.
TensorId last_output(const TraceTensors& tensors);

// The gradient of the last output: `given`, or all ones where that is null. Throws Error(input) where it has
// not the shape and type of the last output. An equal one that `previous` (which may be null) started from is
// taken in its place: equal sources share their gradients.
TensorPtr resolved_grad_output(const Trace& forward, const TensorPtr& given, const Trace* previous);

}  // namespace headwise
