// The declarations of the forward pass: one rule for each tensor that F.multi_head_attention_forward or
// F.scaled_dot_product_attention makes.
#pragma once

#include "core/trace/rules.h"

namespace headwise {

// Fills in how `rule` combines and which products it has; its result and its sizes are set. A source is named
// by what it is read as: v reads `value`, even where that is the same array as `key` (declared_rule says
// first_name). The sizes of what
// it sums over come from the inputs and the options, never from a tensor that the rule reads: a backend need
// not have kept that.
void declare_forward_rule(const Trace& trace, Rule& rule);

}  // namespace headwise
