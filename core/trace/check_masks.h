// The mask checks of check_attention_inputs (core/trace/check_attention_inputs.h).
#pragma once

#include "core/trace/attention_sizes.h"
#include "core/trace/refusals.h"

namespace headwise {

// Checks attn_mask, key_padding_mask and valid_lens against the sizes; their types have already been checked.
void check_masks(const AttentionInputs& inputs, const AttentionSizes& sizes, Refusals& refusals);

}  // namespace headwise
