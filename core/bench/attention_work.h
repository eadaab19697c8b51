// How much work one attention is, and a part of it that is small enough for the reference.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// Floating point operations of the products, a multiply-add counted as two: the projections of a module, and for every
// query and head those with the keys that neither causal mask nor window nor valid_lens hides from it (other masks hide
// nothing here).
double attention_flops(const AttentionInputs& inputs);

// The largest difference of `output` from the reference's output; where L·S is large only that of the last (or first)
// queries, which are computed by themselves. NaN and infinities count as equal to themselves and else as infinitely far,
// which is told as the largest double.
double difference_from_reference(const AttentionInputs& inputs, const Tensor& output);

}  // namespace headwise
