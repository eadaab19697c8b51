// Why a trace has no tensor of a given name, and how to get it.
#pragma once

#include <string>

#include "core/trace/trace.h"

namespace headwise {

// "this scenario returns no weights: attention.need_weights is false".
// The trace must not have a tensor of that name.
std::string why_absent(const Trace& trace, TensorName name);

}  // namespace headwise
