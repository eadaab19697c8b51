// Which tokens of an input have changed.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace headwise {

// Tokens [first, first + count) of batch n.
struct TokenRange {
  Index n, first, count;
};

// Runs of tokens of x (N, tokens, width) that differ in any bit from those of `before`,
// which has the same shape and type.
std::vector<TokenRange> changed_tokens(const Tensor& before, const Tensor& x);

}  // namespace headwise
