#include <fmt/format.h>

#include <algorithm>

#include "core/tensor/error.h"
#include "core/trace/input_variants.h"
#include "core/trace/likely_causes.h"
#include "core/trace/reference_backend.h"

namespace headwise {
namespace {

struct Agreement {
  LikelyCause cause;
  std::size_t tensors = 0;  // of theirs that agree
};

// The arrays that agree, where the first that differed and all before it are among them; else 0.
std::size_t agreeing(const ArrayComparison& comparison, const ComparedArray& first) {
  const ComparedArray* differs = comparison.first_difference();
  if (differs != nullptr) {
    // Arrays keep their order: those up to and with `first` have to come before the one that differs now.
    const auto at = [&](const std::string& name) {
      return std::ranges::find(comparison.arrays, name, &ComparedArray::stored_name);
    };
    if (at(differs->stored_name) <= at(first.stored_name)) return 0;
  }
  if (std::ranges::find(comparison.arrays, first.stored_name, &ComparedArray::stored_name) ==
      comparison.arrays.end())
    return 0;
  return static_cast<std::size_t>(std::ranges::count_if(comparison.arrays, &ComparedArray::agrees));
}

bool is_query_or_key(TensorName name) {
  constexpr TensorId ids[]{TensorId::q,       TensorId::k,        TensorId::q_heads,
                           TensorId::k_heads, TensorId::q_rotary, TensorId::k_rotary};
  return std::ranges::find(ids, name.id) != std::end(ids);
}

bool is_key_or_value(TensorName name) {
  return name.id == TensorId::k || name.id == TensorId::v || name.id == TensorId::k_heads ||
         name.id == TensorId::k_rotary || name.id == TensorId::v_heads;
}

// Inputs of ours that a variant changes (a mask turned round) are not held against theirs: the question is what
// was computed from them. Nor are keys and values in another number of heads, or queries and keys in another order of columns.
std::vector<StoredTensor> made_arrays(const VariantSearch& search, const AttentionOptions& variant,
                                      bool reorders_columns) {
  const bool regrouped = variant.num_kv_heads != search.ours.options.num_kv_heads;
  std::vector<StoredTensor> made;
  for (const StoredTensor& array : search.theirs) {
    const auto name = stored_tensor_name(array.name, search.ours.options.op);
    if (!name || is_given(search.ours, *name) || (regrouped && is_key_or_value(*name))) continue;
    if (reorders_columns && is_query_or_key(*name)) continue;
    made.push_back(array);
  }
  return made;
}

TracePtr run(const VariantSearch& search, const AttentionInputs& inputs) {
  const TracePtr forward = reference_forward(inputs, &search.ours);
  return search.ours.grad.output ? reference_backward(*forward, search.grad_output) : forward;
}

}  // namespace

std::vector<LikelyCause> causes_in_inputs(const VariantSearch& search, const ArrayComparison& comparison) {
  const ComparedArray* first = comparison.first_difference();
  if (first == nullptr || !first->refusal.empty() || is_given(search.ours, first->tensor)) return {};
  if (reference_trace_bytes(search.inputs) > variant_bytes_limit) return {};
  std::vector<Agreement> found;
  for (const InputVariant& variant : input_variants(search.inputs)) {
    AttentionInputs changed = search.inputs;
    variant.change(changed);
    try {
      const TracePtr trace = run(search, changed);
      const ArrayComparison again = compare_arrays(
          *trace, made_arrays(search, trace->options, variant.reorders_columns), search.options);
      const std::size_t tensors = agreeing(again, *first);
      if (tensors == 0) continue;
      std::string text = "theirs agrees if " + variant.text;
      text += tensors == again.arrays.size()
                  ? "; then everything agrees"
                  : fmt::format("; then {} of {} agree", tensors, again.arrays.size());
      found.push_back({{std::move(text), variant.remedy}, tensors});
    } catch (const Error&) {
      // The variant is not valid for these inputs: it is no cause.
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &Agreement::tensors);
  std::vector<LikelyCause> causes;
  for (Agreement& agreement : found) causes.push_back(std::move(agreement.cause));
  return causes;
}

}  // namespace headwise
