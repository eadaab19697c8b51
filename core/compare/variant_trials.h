// Tries program variants on the arrays of another program: do they agree?
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/compare/likely_causes.h"
#include "core/compare/program_variants.h"

namespace headwise {

// Recomputes a trace with some of its stages changed: what depends on a changed tensor is recomputed, the
// rest is shared. Plain and in f64; used to run program variants (core/compare/program_variants.h).

// Returns an f64 copy; masks keep their type.
Trace widened_trace(const Trace& trace);

// Called after each stage, in the order of computation; false: the rest is not computed. `unchanged` holds
// the tensor without the change of this stage, or, for the returned weights, of the weights: a program may
// have stored it before its mistake.
using StageVisitor =
    std::function<bool(TensorId stage, const Trace& so_far, const std::vector<TensorPtr>& unchanged)>;

// Returns the changed trace as far as the visitor requested it. `base` is in f64 (widened_trace).
Trace retraced(const Trace& base, std::span<const StageChange> changes, const StageVisitor& visit);

// Which of their arrays agree with a variant, in the order of computation.
struct TrialResult {
  std::size_t agreeing = 0;  // arrays before the first that does not
  bool all = false;          // every array computed by the other program, in every cell
  std::size_t unjudged = 0;  // gradients, which a changed stage does not have
};

class VariantTrials {
 public:
  // Keeps references to everything that `search` refers to.
  VariantTrials(const VariantSearch& search, const ArrayComparison& comparison);

  const AttentionInputs& inputs() const { return inputs_; }  // in f64
  const Trace& ours() const { return ours_; }                // computed from them
  // Those of the inputs, or of inputs that a variant has changed.
  std::vector<ProgramVariant> variants() const { return variants_of(inputs_); }
  std::vector<FittedVariant> fits() const { return fitted_variants(inputs_, search_.stretched); }
  std::vector<ProgramVariant> variants_of(const AttentionInputs& inputs) const {
    return program_variants(inputs, search_.stretched);
  }
  std::size_t arrays() const { return arrays_.size(); }  // number of computed ones, including gradients
  std::size_t first() const { return first_; }           // the index of the first that differs

  // Nothing agrees if the variant is not valid for these inputs.
  // `base`, if given, is base_of(variant), or one with stages changed already that come before those of the
  // variant.
  TrialResult tried(const ProgramVariant& variant, const Trace* base = nullptr) const;

  // The trace of the variant's inputs and options, before its stages are changed.
  Trace base_of(const ProgramVariant& variant) const;

  // The same trials of other inputs: those that the variant's change makes of these.
  // Throws Error if it is not valid.
  VariantTrials after(const ProgramVariant& variant) const;

  // The variant's numbers of the first array that differs, of some columns of it, or of all from that one on,
  // minus theirs, where both are finite; empty if the variant is not valid or an array has another shape.
  enum class Residuals { of_first, of_some_columns, of_all };
  std::vector<double> residuals(const ProgramVariant& variant, Residuals of = Residuals::of_first) const;

 private:
  struct Array {
    const StoredTensor* stored;
    TensorName name;
    double tolerance;
    TensorPtr read;  // as compared, if it can be read in one way only
  };
  bool surely_differs(const Array& array, const Tensor& tensor) const;
  // The trace that a variant changes, and the changes of its stages.
  struct Beginning {
    Trace trace;
    std::vector<StageChange> stages;
  };
  Beginning beginning(const ProgramVariant& variant) const;
  const Array* projected_next(std::span<const StageChange> stages, std::size_t next) const;
  ComparedArray compared(const Trace& trace, const Array& array, const ProgramVariant& variant) const;
  bool gradients_agree(const ProgramVariant& variant, std::size_t from) const;

  const VariantSearch& search_;
  const ComparedArray* differing_;
  Trace ours_;                 // in f64
  AttentionInputs inputs_;     // what it was computed from, in f64
  std::vector<Array> arrays_;  // values first, then gradients
  std::size_t first_ = 0, values_ = 0;
  Index largest_column_ = 0;  // of the output of theirs: the one with the largest numbers
};

// Variants under which everything agrees.
using FoundVariants = std::vector<std::pair<ProgramVariant, TrialResult>>;

double sum_of_squares(const std::vector<double>& cells);

// Searches for each number. Defined in causes_in_variants.cpp, as is the next.
FoundVariants tried_fits(const VariantTrials& trials, const std::vector<FittedVariant>& fits);

// What they are called, the nearest to theirs first, each text once.
std::vector<LikelyCause> named_causes(const VariantTrials& trials, FoundVariants found);

}  // namespace headwise
