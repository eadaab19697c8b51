// Known differences between programs that compute attention, each as a change of our own computation: of its
// inputs and options, of the result of one of its stages, or of both. If their program agrees with ours after
// such a change, the change is the difference.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/compare/array_compare.h"

namespace headwise {

// A replacement for one tensor. `change` gets the trace up to that tensor, in f64, including the tensor as
// computed by the stage (null if there is none, as q_rotary without rotary positions). Several changes of one
// stage are applied in order.
struct StageChange {
  TensorId stage;
  std::function<Tensor(const Trace& so_far)> change;
};

struct ProgramVariant {
  std::string text;  // what theirs does: "the scores are not scaled"
  // the same in Headwise, "--set attention.scale=1"; empty if it is a mistake anywhere
  std::string remedy = {};
  std::function<void(AttentionInputs&)> change = {};  // may be empty
  std::vector<StageChange> stages = {};               // may be empty
  HeadCopies copies = {};                             // how repeated key/value heads are repeated
  // added to `text`; of several variants with the same text the first match is named
  std::string detail = {};
};

// Returns a tensor of the trace; throws Error where there is none, because another change removed the masks
// or a bias: the variant is then not valid (core/compare/variant_trials.h).
const Tensor& required(const Trace& so_far, TensorId id);

// Returns one change followed by another.
ProgramVariant joined(const ProgramVariant& first, const ProgramVariant& then);

// The variants possible for these inputs (f64); after `change` they are still valid inputs, of the same
// lengths. Likelier ones come first.
std::vector<ProgramVariant> program_variants(const AttentionInputs& inputs);

// The families of variants, each in its own file.
using ProgramVariants = std::vector<ProgramVariant>;
void add_input_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_parameter_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_mask_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_mask_value_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_position_mask_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_rotary_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_head_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_score_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_softmax_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_output_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_rounding_variants(const AttentionInputs& inputs, ProgramVariants& variants);

// A variant with unknown numbers, one or one per head, and the starting points of the search for them.
struct FittedVariant {
  std::function<ProgramVariant(const std::vector<double>& numbers)> with;
  std::vector<std::vector<double>> starts;

  FittedVariant(const std::function<ProgramVariant(double)>& with_one,
                const std::vector<double>& starts_of_one);
  // Each start is taken for every head.
  FittedVariant(std::function<ProgramVariant(const std::vector<double>&)> with_each,
                const std::vector<double>& starts_of_all, std::size_t heads);

  std::size_t numbers() const { return starts.front().size(); }
};
// Those with one number come first.
std::vector<FittedVariant> fitted_variants(const AttentionInputs& inputs);

// One after the other, with the numbers of both.
FittedVariant joined(const FittedVariant& first, const FittedVariant& then);

}  // namespace headwise
