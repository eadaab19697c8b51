// The transpose of a product of a rule: what flows back through it to one of its factors. Reverse-mode
// differentiation on rules, for rules that are linear in the factor.
//
//     scores[n,h,l,s] = Σ_d q_heads[n, h, l, d] · k_heads[n, h/2, s, d]
// transposed for k_heads, with the two query heads of a group as h:
//     grad.k_heads[n,g,s,d] += Σ_{h,l} grad.scores[n, 2·g + h, l, s] · q_heads[n, 2·g + h, l, d]
#pragma once

#include <string>
#include <vector>

#include "core/attention/rules.h"

namespace headwise {

// What `product` of `rule`, whose result has a gradient, adds to the gradient of the factor with index
//     `factor`: grad.X[i] += Σ over all variables that lead to i,
//     grad.result[cell] · Π of the other factors.
// Variables 0 … of the new product are the axes of X, of sizes `factor_sizes`; they are followed by the
// variables that i leaves open, in the order of the rule, except those with only one possible value. Cells of
// X that the product does not read are excluded by `where`. `letters` name the axes of the rule's result, for
// the sums.
// Throws std::logic_error if the axis maps do not consist of whole digits, which no declared rule does.
Product transposed_product(const Rule& rule, const Product& product, std::size_t factor,
                           const std::vector<Index>& factor_sizes, const std::vector<std::string>& letters);

}  // namespace headwise
