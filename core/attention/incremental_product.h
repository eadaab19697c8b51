// Products beside those of before, where little has changed: after one parameter of a head, or one token, most cells of
// the next product are those of the last.
#pragma once

#include <span>

#include "core/attention/matrix_product.h"

namespace headwise {

// What a product of the same sizes was made from, and what it gave. Steps are those of the product beside it.
struct EarlierProduct {
  const double* left;
  const double* right;
  const double* bias;  // null where the product has none
  const double* out;
};

enum class ProductChange { none, some, most };

// products[i] beside earlier[i]: only rows whose left side is another, and columns whose right side or bias is another, are
// computed, the rest is copied; the bits are those of multiply_doubles. Outputs may be unwritten before.
// `some`: every output is filled. `none`: each is that of before, and nothing was written. `most`: more than a quarter of
// the work would be left, so that multiply_doubles is the shorter way; nothing was written. Throws Error(cancelled).
ProductChange incremental_product(std::span<const DoubleProduct> products,
                                  std::span<const EarlierProduct> earlier);

}  // namespace headwise
