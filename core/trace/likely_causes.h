// Why another program's tensor differs from ours, where computing can tell: the change of our numbers, or of
// our options and inputs, after which the two agree in every cell. Nothing is guessed: a cause that does not
// make them agree within the tolerance is not named.
#pragma once

#include <string>
#include <vector>

#include "core/trace/array_compare.h"

namespace headwise {

struct LikelyCause {
  std::string text;    // "theirs equals ours times 0.5 = 1/√D"
  std::string remedy;  // what makes ours do the same: "--set attention.scale=1"; often empty
};

// Our numbers of this tensor, or of another one, arranged, scaled or rounded differently. `array` differs and
// has been read. A tensor above 2^20 cells is not searched.
std::vector<LikelyCause> causes_in_numbers(const Trace& ours, const ComparedArray& array);

// What the whole is computed from and with; each variant (core/trace/input_variants.h) is one run more.
struct VariantSearch {
  const AttentionInputs& inputs;
  const Trace& ours;  // made from them
  TensorPtr grad_output;
  const std::vector<StoredTensor>& theirs;
  ArrayComparisonOptions options;
};

// Above this size of a trace variants are not run: some dozens of runs would take too long.
inline constexpr Index variant_bytes_limit = Index{256} << 20;

// The variants under which the first tensor that differs, and every one before it, agrees; those first that
// make the most tensors agree.
std::vector<LikelyCause> causes_in_inputs(const VariantSearch& search, const ArrayComparison& comparison);

}  // namespace headwise
