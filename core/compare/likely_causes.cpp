#include "core/compare/likely_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/compare/narrow_types.h"
#include "core/compare/variant_trials.h"
#include "core/reference/reference_backend.h"

namespace headwise {
namespace {

bool is_wide(const std::string& stored_dtype) {
  return stored_dtype == "f32" || stored_dtype == "f64";
}

// The 16-bit type that every number of every differing array belongs to, although it was stored in a wider one.
std::optional<NarrowType> narrow_numbers(const Trace& ours, const ArrayComparison& comparison) {
  for (const NarrowType& type : {bf16, f16}) {
    bool any = false, all = true;
    for (const ComparedArray& array : comparison.arrays) {
      if (array.agrees() || is_given(ours, array.tensor)) continue;
      any = true;
      all = all && array.theirs && is_wide(array.stored_dtype) && holds_only(type, *array.theirs) &&
            !holds_only(type, *array.ours);
    }
    if (any && all) return type;
  }
  return std::nullopt;
}

// Their arrays as if they had been stored in the type of their numbers.
std::vector<StoredTensor> stored_as(const VariantSearch& search, const NarrowType& type) {
  std::vector<StoredTensor> arrays = search.theirs;
  for (StoredTensor& array : arrays) {
    const auto name = stored_tensor_name(array.name, search.ours.options.op);
    if (name && !is_given(search.ours, *name) && is_wide(array.stored_dtype)) array.stored_dtype = type.name;
  }
  return arrays;
}

// Whether the arrays after this one agree, or follow from it: then what explains this one explains them all.
bool rest_follows(const VariantSearch& search, const ArrayComparison& comparison, const ComparedArray& first) {
  const auto differs = [](const ComparedArray& array) { return !array.agrees(); };
  if (std::ranges::count_if(comparison.arrays, differs) == 1) return true;
  const TensorPtr own = search.ours.tensor(first.tensor);
  if (first.tensor.gradient || !own->shape().same_sizes(first.theirs->shape())) return false;
  if (reference_trace_bytes(search.inputs) > variant_bytes_limit) return false;
  const auto theirs =
      std::make_shared<const Tensor>(first.theirs->reshaped(own->shape()).converted(DType::f64));
  ProgramVariant taken;
  taken.stages = {{first.tensor.id, [theirs](const Trace&) { return *theirs; }}};
  return VariantTrials(search, comparison).tried(taken).all;
}

std::vector<LikelyCause> causes_of(const VariantSearch& search, const ArrayComparison& comparison) {
  std::vector<LikelyCause> causes = causes_in_variants(search, comparison);
  const ComparedArray& first = *comparison.first_difference();
  if (!causes.empty() || !first.theirs) return causes;
  causes = causes_in_numbers(search.ours, first);
  if (is_given(search.ours, first.tensor) || causes.empty() || rest_follows(search, comparison, first))
    return causes;
  return {};
}

}  // namespace

Findings likely_causes(const VariantSearch& search, const ArrayComparison& comparison) {
  Findings findings;
  if (comparison.first_difference() == nullptr) return findings;
  const std::optional<NarrowType> narrow =
      search.options.tolerance ? std::nullopt : narrow_numbers(search.ours, comparison);
  if (!narrow) {
    findings.causes = causes_of(search, comparison);
    return findings;
  }
  const std::string fact =
      fmt::format("every number of theirs is {} {} number, rounded there and stored as a wider type",
                  std::string_view(narrow->name) == "f16" ? "an" : "a", narrow->name);
  const std::vector<StoredTensor> theirs = stored_as(search, *narrow);
  const VariantSearch relaxed{search.inputs, search.ours, search.grad_output, theirs, search.options};
  const ArrayComparison again = compare_arrays(search.ours, theirs, search.options);
  if (again.first_difference() == nullptr) {
    findings.causes.push_back({fmt::format("{}; within {:g}, which {} allows, everything agrees", fact,
                                           narrow->tolerance(), narrow->name),
                               fmt::format("--tolerance {:g}", narrow->tolerance())});
    return findings;
  }
  findings.causes = causes_of(relaxed, again);
  for (LikelyCause& cause : findings.causes)
    cause.text = fmt::format("{}; and, held to {:g}, {}", fact, narrow->tolerance(), cause.text);
  if (findings.causes.empty()) {
    findings.causes = causes_in_variants(search, comparison);  // possibly rounded along the way
    findings.facts.push_back(
        fmt::format("{}; that alone does not explain it: within {:g} the first that differs is {}", fact,
                    narrow->tolerance(), to_string(again.first_difference()->tensor)));
  }
  return findings;
}

}  // namespace headwise
