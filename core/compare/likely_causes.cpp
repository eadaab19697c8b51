#include "core/compare/likely_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/attention/reference_backend.h"
#include "core/compare/narrow_types.h"
#include "core/compare/variant_trials.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Id = TensorId;

bool is_wide(const std::string& stored_dtype) {
  return stored_dtype == "f32" || stored_dtype == "f64";
}

// The 16-bit type that every number of every differing array belongs to,
// although it was stored in a wider one.
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
bool explains_later_arrays(const VariantSearch& search, const ArrayComparison& comparison,
                           const ComparedArray& first) {
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

std::vector<LikelyCause> causes_of(const VariantSearch& search, const ArrayComparison& comparison,
                                   SearchEffort& tried) {
  std::vector<LikelyCause> causes = causes_in_variants(search, comparison, &tried);
  const ComparedArray& first = *comparison.first_difference();
  if (!causes.empty() || !first.theirs) return causes;
  causes = causes_in_numbers(search.ours, first);
  if (is_given(search.ours, first.tensor) ||
      (!causes.empty() && explains_later_arrays(search, comparison, first)))
    return causes;
  return causes_in_pairs(search, comparison, &tried);
}

// What there is to say of an array that shows nothing of the program that wrote it, because very different
// mistakes end in it: no finite number, one number in every cell, a copy of an input. Empty for all others.
std::string without_evidence(const Trace& ours, const ComparedArray& array, const Tensor& theirs) {
  if (theirs.size() == 0) return "";
  bool all_nan = true, all_infinite = true, none_finite = true, all_same = true;
  for (Index i = 0; i < theirs.size(); ++i) {
    const double x = theirs.flat(i);
    all_nan = all_nan && std::isnan(x);
    all_infinite = all_infinite && std::isinf(x);
    none_finite = none_finite && !std::isfinite(x);
    all_same = all_same && x == theirs.flat(0);
  }
  if (all_nan) return "NaN in every cell";
  if (all_same && theirs.flat(0) == 0.0) return "0 in every cell: was it written before it was computed?";
  if (all_same) return fmt::format("{:g} in every cell", theirs.flat(0));
  if (all_infinite) return "infinite in every cell";
  if (none_finite) return "NaN or infinite in every cell";
  if (is_given(ours, array.tensor) || array.tensor.gradient) return "";
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr own = ours.tensor(entry.id);
    if (!own || !is_given(ours, {entry.id}) || own->shape().sizes() != theirs.shape().sizes()) continue;
    if (own->dtype() == DType::boolean || own->dtype() == DType::i64) continue;
    if (compare_tensors(array.tensor, *own, theirs, array.tolerance).agrees())
      return fmt::format("a copy of {}, which was given", entry.name);
  }
  return "";
}

// Whether any array that differs is evidence; says of the others what they hold.
bool is_evidence(const VariantSearch& search, const ArrayComparison& comparison,
                 std::vector<std::string>& facts) {
  bool any = false;
  std::vector<std::pair<std::string, std::vector<std::string>>> stated;  // what is said, and of which arrays
  for (const ComparedArray& array : comparison.arrays) {
    if (array.agrees()) continue;
    const auto stored = std::ranges::find(search.theirs, array.stored_name, &StoredTensor::name);
    // One that could not be read as our tensor has not been read from its file either.
    const bool is_read = stored != search.theirs.end() && stored->array.is_read();
    const std::string text =
        is_read ? without_evidence(search.ours, array, *stored->array.tensor()) : std::string();
    any = any || text.empty();
    if (text.empty()) continue;
    auto same = std::ranges::find(stated, text, &std::pair<std::string, std::vector<std::string>>::first);
    if (same == stated.end()) same = stated.insert(stated.end(), {text, {}});
    same->second.push_back(to_string(array.tensor));
  }
  for (const auto& [text, names] : stated)
    facts.push_back(
        fmt::format("{} of theirs {} {}", join(names, ", "), names.size() == 1 ? "is" : "are each", text));
  return any;
}

// Says what of theirs would narrow the search down: of the tensors between the last that agrees and the first
// that differs the middle one, the weights if they are among them.
void find_next_tensor(const VariantSearch& search, const ArrayComparison& comparison, Findings& findings) {
  const ComparedArray& first = *comparison.first_difference();
  if (is_given(search.ours, first.tensor)) return;
  const auto compared = [&](const TensorPtr& tensor) -> const ComparedArray* {
    const auto array = std::ranges::find_if(comparison.arrays, [&](const ComparedArray& other) {
      return other.tensor.gradient == first.tensor.gradient && search.ours.tensor(other.tensor) == tensor;
    });
    return array == comparison.arrays.end() ? nullptr : &*array;
  };
  std::vector<TensorName> between;
  const auto step = [&](Id id) {
    const TensorName name{id, first.tensor.gradient};
    const TensorPtr own = search.ours.tensor(name);
    if (!own || is_given(search.ours, name) || own == search.ours.tensor(first.tensor)) return;
    const ComparedArray* array = compared(own);
    if (array && array->agrees()) between.clear();
    if (!array) between.push_back(name);
  };
  // The returned weights are computed from the dropped ones, and from nothing behind those.
  const Id until = first.tensor.id == Id::attn_output_weights ? Id::head_output : first.tensor.id;
  const auto last = static_cast<std::size_t>(until);
  if (first.tensor.gradient)
    for (std::size_t i = tensor_entries().size(); i-- > last + 1;) step(tensor_entries()[i].id);
  else
    for (std::size_t i = 0; i < last; ++i) step(tensor_entries()[i].id);
  if (between.empty()) {
    findings.next_array = first.stored_name;
    return;
  }
  const auto weights = std::ranges::find(between, TensorName{Id::attn_weights, first.tensor.gradient});
  findings.next_tensor = weights != between.end() ? *weights : between[between.size() / 2];
}

// Arrays whose finite numbers all agree, so that single cells went wrong and not the program's formula. In
// masked_scores −∞ is what a mask writes.
void add_stray_cells(const ArrayComparison& comparison, std::vector<std::string>& facts) {
  for (const ComparedArray& array : comparison.arrays) {
    const TensorDifference& d = array.difference;
    const bool stray = d.differing_cells > 0 && d.differing_cells == d.non_finite_mismatches &&
                       d.differing_cells < d.cells && std::isfinite(d.ours);
    if (!stray || array.tensor.id == Id::masked_scores) continue;
    facts.push_back(
        fmt::format("{} of theirs agrees wherever both numbers are finite; {} of its {} cells {} NaN or "
                    "infinite on one side only, the first at [{}]: ours {:g}, theirs {:g}",
                    to_string(array.tensor), d.differing_cells, d.cells,
                    d.differing_cells == 1 ? "is" : "are", join(d.worst, ","), d.ours, d.theirs));
  }
}

Findings found_causes(const VariantSearch& search, const ArrayComparison& comparison) {
  Findings findings;
  if (!is_evidence(search, comparison, findings.facts)) return findings;
  const std::optional<NarrowType> narrow =
      search.options.tolerance ? std::nullopt : narrow_numbers(search.ours, comparison);
  if (!narrow) {
    findings.causes = causes_of(search, comparison, findings.tried);
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
  findings.causes = causes_of(relaxed, again, findings.tried);
  for (LikelyCause& cause : findings.causes)
    cause.text = fmt::format("{}; and, held to {:g}, {}", fact, narrow->tolerance(), cause.text);
  if (findings.causes.empty()) {
    // possibly rounded along the way
    findings.causes = causes_in_variants(search, comparison, &findings.tried);
    findings.facts.push_back(
        fmt::format("{}; that alone does not explain it: within {:g} the first that differs is {}", fact,
                    narrow->tolerance(), to_string(again.first_difference()->tensor)));
  }
  return findings;
}

}  // namespace

Findings likely_causes(const VariantSearch& search, const ArrayComparison& comparison) {
  if (comparison.first_difference() == nullptr) return {};
  Findings findings = found_causes(search, comparison);
  if (!findings.causes.empty()) return findings;
  add_stray_cells(comparison, findings.facts);
  find_next_tensor(search, comparison, findings);
  return findings;
}

}  // namespace headwise
