// What a person must be told about a result that is correct and yet surprising.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace headwise {

// Rows of attn_weights in which every key is blocked, all of them, by index ("batch 0, head 1, queries 3,
// 5–9"), and inputs, parameters and masks that are not finite (a mask's -inf is), by the index of the first
// such cells.
std::vector<std::string> trace_warnings(const Trace& trace);

}  // namespace headwise
