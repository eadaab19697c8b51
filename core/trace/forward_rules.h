// The declarations of the forward pass: one rule per tensor computed by F.multi_head_attention_forward or
// F.scaled_dot_product_attention.
#pragma once

#include "core/trace/rules.h"

namespace headwise {

// Fills in how `rule` combines and which products it has; its result and sizes are already set. A source is
// named by its role: v reads `value`, even if that is the same array as `key` (declared_rule maps it to
// first_name). The sizes of summed axes come from the inputs and the options, never from a tensor that the
// rule reads: a backend need not have kept that.
void declare_forward_rule(const Trace& trace, Rule& rule);

}  // namespace headwise
