// The same result computed by PyTorch's own function, in one call.
#pragma once

#include <string>

#include "core/trace/trace.h"

namespace headwise {

// Lines that call F.multi_head_attention_forward or F.scaled_dot_product_attention with the arrays and the
// mask_bias of the program (core/code/program.h) and print the largest difference from its output. If the
// function lacks an option of this trace: a comment that names it.
std::string own_function_text(const Trace& trace);

}  // namespace headwise
