// Why another program's tensors differ from ours, if computing can tell: the change of our numbers, or of our
// computation, after which the two agree. Nothing is guessed, and there is one rule: a cause is named only
// if, with it, every one of their arrays agrees in every cell. A cause that explains only some of the arrays
// is not named, because it misleads: a mask applied after the softmax looks like no mask until the weights
// are reached.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/attention/rotary_scaling.h"
#include "core/compare/array_compare.h"

namespace headwise {

struct LikelyCause {
  std::string text;    // "theirs equals ours times 0.5 = 1/√D"
  std::string remedy;  // what makes ours do the same: "--set attention.scale=1"; often empty
};

// How much is computed to find two mistakes that are not seen one by one: bytes of the trace times runs.
// Measured: at most seven seconds of one processor;
// all pairs of known mistakes for the presets and what is smaller.
inline constexpr Index usual_pair_work = Index{1} << 32;

// What the inputs' rotary_inverse_frequencies and rotary_factor were made from.
struct StretchedRope {
  RotaryScaling scaling;
  double base = 10000.0;
};

// What the variants (core/compare/program_variants.h) are computed from and with; each is one more run.
struct VariantSearch {
  const AttentionInputs& inputs;
  const Trace& ours;  // computed from them
  TensorPtr grad_output;
  const std::vector<StoredTensor>& theirs;
  ArrayComparisonOptions options;
  Index pair_work = usual_pair_work;
  std::optional<StretchedRope> stretched = {};  // if they were
};

// Above this trace size variants are not run: some hundreds of runs would take too long.
inline constexpr Index variant_bytes_limit = Index{32} << 20;

// How many mistakes were tried.
struct SearchEffort {
  std::size_t singles = 0, pairs = 0;
};

// All causes of the differences, the best first;
// and facts about their arrays that hold whether or not they explain everything.
struct Findings {
  std::vector<LikelyCause> causes;
  // "every number of theirs is a bf16 number …", "output of theirs is NaN in every cell"
  std::vector<std::string> facts;
  SearchEffort tried;  // none if the arrays show nothing, are inputs, or are too large
  // Where there are no causes: what of theirs would narrow the search down, a tensor that the file does not
  // have yet, or the array with which the differences begin, if all before it agrees.
  std::optional<TensorName> next_tensor;
  std::optional<std::string> next_array;
};
Findings likely_causes(const VariantSearch& search, const ArrayComparison& comparison);

// The parts of it. The variants under which everything agrees; if no single one does, with a number that is
// searched for, or two at once.
std::vector<LikelyCause> causes_in_variants(const VariantSearch& search, const ArrayComparison& comparison,
                                            SearchEffort* effort = nullptr);

// Two variants at once under which everything agrees, found by trying all of them with each other, as far as
// `pair_work` allows. Adds to `effort`, if given. Empty for gradients, and for numbers of 16 bits, which
// agree too easily.
std::vector<LikelyCause> causes_in_pairs(const VariantSearch& search, const ArrayComparison& comparison,
                                         SearchEffort* effort = nullptr);

// Our numbers of this tensor, or of another one, rearranged, scaled or rounded. `array` differs and has been
// read; the other arrays are ignored. Tensors above 2^20 cells are not searched.
std::vector<LikelyCause> causes_in_numbers(const Trace& ours, const ComparedArray& array);

}  // namespace headwise
