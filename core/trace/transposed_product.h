// A product of a rule turned round: what flows back through it to one of its factors. Reverse-mode
// differentiation on rules, where a rule is linear in the factor.
//
//     scores[n,h,l,s] = Σ_d q_heads[n, h, l, d] · k_heads[n, h/2, s, d]
// turned round for k_heads, with the two query heads of a group as h:
//     grad.k_heads[n,g,s,d] += Σ_{h,l} grad.scores[n, 2·g + h, l, s] · q_heads[n, 2·g + h, l, d]
#pragma once

#include <string>
#include <vector>

#include "core/trace/rules.h"

namespace headwise {

// What `product` of `rule`, whose result has a gradient, adds to the gradient of factor number `factor`:
//     grad.X[i] += Σ over all variables that lead to i,  grad.result[cell] · Π of the other factors.
// Variables 0 … of the new product are the axes of X, of sizes `factor_sizes`; behind them come the variables
// that i leaves open, in the order in which the rule has them, except those that can only have one value.
// Cells of X that the product does not read are left out by `where`. `letters` name the axes of the rule's
// result, for the sums.
// Throws std::logic_error where the axis maps are not made of whole digits, which no declared rule is.
Product transposed_product(const Rule& rule, const Product& product, std::size_t factor,
                           const std::vector<Index>& factor_sizes, const std::vector<std::string>& letters);

}  // namespace headwise
