// How mask_bias is computed: one product (core/trace/rules.h) per mask given or requested. What each adds is
// the same as in core/attention/attention_mask.h, one cell at a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/trace/rules.h"

namespace headwise {

// One product per mask, in the order attn_mask, key_padding_mask, valid_lens, causal, sliding window, ALiBi.
// They apply to the columns [0,S): the columns of bias_k and the zero row are never blocked. The trace must
// have a mask_bias.
std::vector<Product> mask_products(const Trace& trace);

// What a product adds at the cell `index` (n,h,l,s) of mask_bias: 0, −inf or a number. `cell` is the number
// in the mask's own cell; products without a factor do not read it.
double mask_contribution(const Trace& trace, const Product& product, std::span<const Index> index, double cell);

// The same as text for a formula, "−∞ if key_padding_mask[0,3]"; `factor` is the mask's cell as text.
std::string mask_contribution_text(const Trace& trace, const Product& product, std::span<const Index> index,
                                   const std::string& factor);

}  // namespace headwise
