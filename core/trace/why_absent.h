// Why a trace has no tensor of a name, in words that tell how to get it.
#pragma once

#include <string>

#include "core/trace/trace.h"

namespace headwise {

// "this scenario returns no weights: attention.need_weights is false". The trace has none of that name.
std::string why_absent(const Trace& trace, TensorName name);

}  // namespace headwise
