// A trace computed again with some of its stages changed: what is made from a changed tensor is made anew, the rest is
// shared. Plain and in f64; the variants of a program (core/compare/program_variants.h) are run with it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/compare/program_variants.h"

namespace headwise {

// Returns a copy whose numbers are f64; masks keep their type.
Trace widened_trace(const Trace& trace);

// Asked after each stage, in the order of computation; false: the rest is not computed. `unchanged` holds the tensor as it
// would be without the change of this stage, or, for the returned weights, of the weights: a program may have written it
// down before it went astray.
using StageVisitor =
    std::function<bool(TensorId stage, const Trace& so_far, const std::vector<TensorPtr>& unchanged)>;

// Returns the changed trace as far as the visitor wanted it. `base` is in f64 (widened_trace).
Trace retraced(const Trace& base, std::span<const StageChange> changes, const StageVisitor& visit);

}  // namespace headwise
