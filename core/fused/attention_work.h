// The amount of work in one attention, and a part of it that is small enough for the reference.
#pragma once

#include "core/attention/trace.h"

namespace headwise {

// Floating point operations of the products, a multiply-add counted as two: the projections of a module, and
// for every query and head those with the keys that neither causal mask nor window nor valid_lens blocks
// (other masks block nothing here).
double attention_flops(const AttentionInputs& inputs);

// The largest difference of `output` from the reference's output; if L·S is large only that of the last (or
// first) queries, which are computed separately. NaN and infinities count as equal to themselves and
// otherwise as infinitely far, which is reported as the largest double.
double difference_from_reference(const AttentionInputs& inputs, const Tensor& output);

}  // namespace headwise
