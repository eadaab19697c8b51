// Incremental products: after a change to one parameter of a head, or to one token, most cells of the next product equal
// those of the previous one.
#pragma once

#include <span>

#include "core/attention/matrix_product.h"

namespace headwise {

// The operands and the result of a previous product of the same sizes. Steps are those of the new product.
struct EarlierProduct {
  const double* left;
  const double* right;
  const double* bias;  // null if the product has no bias
  const double* out;
};

enum class ProductChange { none, some, most };

// Updates products[i] from earlier[i]: only rows whose left side has changed, and columns whose right side or bias has
// changed, are computed, the rest is copied; bitwise equal to multiply_doubles. Outputs may be uninitialised. `some`: every
// output is filled. `none`: nothing has changed, and nothing was written. `most`: more than a quarter of the work would
// remain, so multiply_doubles is faster; nothing was written. Throws Error(cancelled).
ProductChange incremental_product(std::span<const DoubleProduct> products,
                                  std::span<const EarlierProduct> earlier);

}  // namespace headwise
