// The declarations of the backward pass. None is written by hand where the forward pass is linear: the rule
// of grad.X follows from the rules of the tensors that read X, with each product transposed
// (core/trace/transposed_product.h). Only the functions on top (the scale, softmax, layer norm,
// dropout, a filled mask) have a rule of their own, named by Combine.
#pragma once

#include <vector>

#include "core/trace/rules.h"

namespace headwise {

// Whether this trace has gradients.
bool has_backward_pass(const Trace& trace);

// The rule of grad.`id`, which the trace has. The gradient of the last output is `given`; that of a tensor
// that nothing with a gradient reads (W_k with static_k) has no products: zeros. If query, key and value are
// one array, grad.query has the products of all three.
Rule gradient_rule(const Trace& trace, TensorId id);

// The rules of all gradients of this trace, in the order of their tensors: much cheaper than one by one.
// Those for which gradient_rule would throw are left out.
std::vector<Rule> gradient_rules(const Trace& trace);

}  // namespace headwise
