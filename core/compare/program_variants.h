// The ways in which programs that compute attention are known to differ from one another, each as a change of our own
// computation: of its inputs and options, of what one of its stages makes, or of both. Where theirs computes what ours
// computes with such a change, the change is what is different over there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/compare/array_compare.h"

namespace headwise {

// What stands in the place of one tensor. `change` is given the trace up to that tensor, in f64, with the tensor as the
// stage makes it (null where there is none, as q_rotary without rotary positions). Several of one stage follow each other.
struct StageChange {
  TensorId stage;
  std::function<Tensor(const Trace& so_far)> change;
};

struct ProgramVariant {
  std::string text;         // what theirs does: "the scores are not scaled"
  std::string remedy = {};  // the same in Headwise, "--set attention.scale=1"; empty where it is a mistake anywhere
  std::function<void(AttentionInputs&)> change = {};  // may be empty
  std::vector<StageChange> stages = {};               // may be empty
  HeadCopies copies = {};                             // how key/value heads that come repeated are repeated
  std::string detail = {};  // added to `text`; of several variants of one text the first that fits is named
};

// Those that these inputs (f64) allow; with `change` they are valid inputs again, of the same lengths. The likelier come
// first.
std::vector<ProgramVariant> program_variants(const AttentionInputs& inputs);

// The families of variants, each in a file of its own.
using ProgramVariants = std::vector<ProgramVariant>;
void add_input_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_parameter_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_mask_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_mask_value_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_rotary_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_head_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_score_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_softmax_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_output_variants(const AttentionInputs& inputs, ProgramVariants& variants);
void add_rounding_variants(const AttentionInputs& inputs, ProgramVariants& variants);

// A variant with one number that is not known beforehand, and the numbers with which the search for it begins.
struct FittedVariant {
  std::function<ProgramVariant(double number)> with;
  std::vector<double> starts;
};
std::vector<FittedVariant> fitted_variants(const AttentionInputs& inputs);

}  // namespace headwise
