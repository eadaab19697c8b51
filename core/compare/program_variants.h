// Known differences between programs that compute attention, each as a change of our own computation: of its
// inputs and options, of the result of one of its stages, or of both. If their program agrees with ours after
// such a change, the change is the difference.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/compare/likely_causes.h"
#include "core/compare/tensor_fill.h"

namespace headwise {

// A replacement for one tensor. `change` gets the trace up to that tensor, in f64, including the tensor as
// computed by the stage (null if there is none, as q_rotary without rotary positions). Several changes of one
// stage are applied in order.
struct StageChange {
  TensorId stage;
  std::function<Tensor(const Trace& so_far)> change;
};

using Change = std::function<void(AttentionInputs&)>;
Change followed_by(Change first, Change then);  // either may be empty

struct ProgramVariant {
  std::string text;                 // what theirs does: "the scores are not scaled"
  std::vector<StageChange> stages;  // may be empty
  HeadCopies copies;                // how repeated key/value heads are repeated
  // added to `text`; of several variants with the same text the first match is named
  std::string detail;
  Change change;  // may be empty
  // the same in Headwise, "--set attention.scale=1"; empty if it is a mistake anywhere
  std::string remedy;

  ProgramVariant() = default;
  ProgramVariant(std::string what, std::vector<StageChange> changed = {}, HeadCopies heads = {},
                 std::string more = {});
  ProgramVariant(std::string what, Change of_inputs, std::vector<StageChange> changed = {},
                 std::string more = {});
  ProgramVariant(std::string what, std::string setting, Change of_inputs,
                 std::vector<StageChange> changed = {});
};

// Returns a tensor of the trace; throws Error where there is none, because another change removed the masks
// or a bias: the variant is then not valid (core/compare/variant_trials.h).
const Tensor& required(const Trace& so_far, TensorId id);

// Changes every cell of a stage to value(cell).
template <class Value>
StageChange mapped(TensorId stage, Value value) {
  return {stage, [=](const Trace& so_far) { return mapped_cells(required(so_far, stage), value); }};
}

// Changes cell [n,h,i,j] of a stage to value(the cells as they were, n, h, i, j).
template <class Value>
StageChange with_cells(TensorId stage, Value value) {
  return {stage, [=](const Trace& so_far) { return refilled4(required(so_far, stage), value); }};
}

// Changes every row of a stage's last axis by change(row), or makes the stage of another one in this way.
template <class Change>
StageChange with_rows(TensorId stage, TensorId from, Change change) {
  return {stage, [=](const Trace& so_far) { return mapped_rows(required(so_far, from), change); }};
}

// Returns one change followed by another.
ProgramVariant joined(const ProgramVariant& first, const ProgramVariant& then);

// The variants possible for these inputs (f64); after `change` they are still valid inputs, of the same
// lengths. Likelier ones come first.
std::vector<ProgramVariant> program_variants(const AttentionInputs& inputs,
                                             const std::optional<StretchedRope>& stretched = {});

// The families of variants, each in its own file.
using ProgramVariants = std::vector<ProgramVariant>;
void add_input_variants(const AttentionInputs& inputs, const std::optional<StretchedRope>& stretched,
                        ProgramVariants& variants);
void add_parameter_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_mask_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_mask_value_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_position_mask_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_indexer_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_past_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_rotary_variants(const AttentionInputs& inputs, const std::optional<StretchedRope>& stretched,
                         ProgramVariants& variants);
void add_latent_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_rotary_scaling_variants(const AttentionInputs& inputs, const std::optional<StretchedRope>& stretched,
                                 ProgramVariants& variants);
void add_head_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_score_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_softmax_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_output_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_rounding_variants(const AttentionInputs& inputs, ProgramVariants& variants);

// A variant with unknown numbers, one or one per head, and the starting points of the search for them.
struct FittedVariant {
  std::function<ProgramVariant(const std::vector<double>& numbers)> with;
  std::vector<std::vector<double>> starts;

  FittedVariant(const std::vector<double>& starts_of_one,
                const std::function<ProgramVariant(double)>& with_one);
  // Each start is taken for every head.
  FittedVariant(const std::vector<double>& starts_of_all, std::size_t heads,
                std::function<ProgramVariant(const std::vector<double>&)> with_each);

  std::size_t numbers() const { return starts.front().size(); }
};
// Those with one number come first.
std::vector<FittedVariant> fitted_variants(const AttentionInputs& inputs,
                                           const std::optional<StretchedRope>& stretched = {});
void add_fitted_stretch(const AttentionInputs& inputs, const StretchedRope& stretched,
                        std::vector<FittedVariant>& fits);

// One after the other, with the numbers of both.
FittedVariant joined(const FittedVariant& first, const FittedVariant& then);

}  // namespace headwise
