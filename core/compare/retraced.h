// Recomputes a trace with some of its stages changed: what depends on a changed tensor is recomputed, the rest is shared.
// Plain and in f64; used to run program variants (core/compare/program_variants.h).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/compare/program_variants.h"

namespace headwise {

// Returns an f64 copy; masks keep their type.
Trace widened_trace(const Trace& trace);

// Called after each stage, in the order of computation; false: the rest is not computed. `unchanged` holds the tensor
// without the change of this stage, or, for the returned weights, of the weights: a program may have stored it before its
// mistake.
using StageVisitor =
    std::function<bool(TensorId stage, const Trace& so_far, const std::vector<TensorPtr>& unchanged)>;

// Returns the changed trace as far as the visitor requested it. `base` is in f64 (widened_trace).
Trace retraced(const Trace& base, std::span<const StageChange> changes, const StageVisitor& visit);

}  // namespace headwise
