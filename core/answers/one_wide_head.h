// The same parameters read as one head: the inputs of an operator with H = G = 1, D′ = H·D and Dv′ = H·Dv.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace headwise {

struct WideHead {
  std::string not_possible;        // a reason; then there are no inputs
  std::vector<std::string> notes;  // plain sentences on what could not be kept identical
  AttentionInputs inputs;
};

// `inputs` without dropout and gains. With G = H all parameters are the same tensors. With G < H the rows of W_k and
// W_v, their biases, bias_k, bias_v, static_k and static_v (for scaled_dot_product_attention: key and value) are
// repeated for each query head.
WideHead one_wide_head(const AttentionInputs& inputs);

// Converts a gradient of the wide head's array back to the array it was made from: copies are summed, heads separated
// again. `many` gives the shape.
TensorPtr gradient_of_many(TensorId id, const TensorPtr& wide_gradient, const AttentionInputs& many);

}  // namespace headwise
