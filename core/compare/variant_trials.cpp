#include "core/compare/variant_trials.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/compare/retraced.h"
#include "core/compare/tensor_readings.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

using Id = TensorId;

// The inputs in f64, as in the widened trace, so that shared tensors stay shared.
AttentionInputs widened_inputs(const AttentionInputs& inputs, const Trace& wide) {
  AttentionInputs result = inputs;
  result.dtype = DType::f64;
  const bool heads_given = inputs.options.op == Op::scaled_dot_product_attention;
  for (const TensorEntry& entry : tensor_entries()) {
    TensorPtr& tensor = result.tensors.*(entry.member);
    if (!tensor || entry.role == TensorRole::intermediate) continue;
    const Id of_heads = entry.id == Id::query ? Id::q_heads : entry.id == Id::key ? Id::k_heads : Id::v_heads;
    const bool is_input = entry.role == TensorRole::input;
    if (const TensorPtr made = wide.tensor(heads_given && is_input ? of_heads : entry.id)) tensor = made;
  }
  return result;
}

constexpr std::size_t enough_residuals = 4096;  // cells that a number is fitted to

}  // namespace

VariantTrials::VariantTrials(const VariantSearch& search, const ArrayComparison& comparison)
    : search_(search),
      differing_(comparison.first_difference()),
      ours_(widened_trace(search.ours)),
      inputs_(widened_inputs(search.inputs, ours_)) {
  for (const ComparedArray& array : comparison.arrays) {
    if (is_given(search.ours, array.tensor)) continue;
    const auto stored = std::ranges::find(search.theirs, array.stored_name, &StoredTensor::name);
    if (stored == search.theirs.end()) continue;
    if (&array == differing_) first_ = arrays_.size();
    if (!array.tensor.gradient) ++values_;
    // The trace is wider than ours was.
    const double tolerance =
        search.options.tolerance.value_or(tolerance_of(search.ours, array.tensor, stored->stored_dtype));
    const TensorPtr own = search.ours.tensor(array.tensor);
    const bool plain =
        !array.tensor.gradient && array.tensor.id != Id::mask_bias && array.theirs &&
        array.theirs->shape().same_sizes(own->shape()) &&
        tensor_readings(array.tensor, own->shape(), stored->tensor, search.options.batch_first).size() == 1;
    arrays_.push_back({&*stored, array.tensor, tolerance, plain ? array.theirs : nullptr});
  }
}

Trace VariantTrials::base_of(const ProgramVariant& variant) const {
  if (!variant.change) return ours_;
  AttentionInputs changed = inputs_;
  variant.change(changed);
  return *reference_forward(changed, &ours_);
}

ComparedArray VariantTrials::compared(const Trace& trace, const Array& array,
                                      const ProgramVariant& variant) const {
  ArrayComparisonOptions options = search_.options;
  options.copies = variant.copies;
  options.tolerance = array.tolerance;
  return compare_array(trace, array.name, *array.stored, options);
}

// Whether one cell shows that the array differs, which is most often the first: cheaper than a comparison.
bool VariantTrials::surely_differs(const Array& array, const Tensor& tensor) const {
  if (!array.read || !array.read->shape().same_sizes(tensor.shape())) return false;
  for (Index i = 0; i < tensor.size(); ++i) {
    const double a = tensor.flat(i), b = array.read->flat(i);
    if (std::abs(a - b) > 2.0 * array.tolerance * std::max({std::abs(a), std::abs(b), 1.0})) return true;
  }
  return false;
}

bool VariantTrials::gradients_agree(const ProgramVariant& variant, std::size_t from) const {
  TensorPtr grad_output = search_.grad_output;
  if (grad_output && grad_output->dtype() != DType::f64)
    grad_output = std::make_shared<const Tensor>(grad_output->converted(DType::f64));
  const TracePtr trace = reference_backward(base_of(variant), grad_output);
  return std::all_of(arrays_.begin() + static_cast<std::ptrdiff_t>(from), arrays_.end(),
                     [&](const Array& array) {
                       return trace->tensor(array.name) && compared(*trace, array, variant).agrees();
                     });
}

TrialResult VariantTrials::tried(const ProgramVariant& variant, const Trace* given_base) const {
  TrialResult result;
  try {
    const Trace base = given_base ? *given_base : base_of(variant);
    retraced(base, variant.stages, [&](Id stage, const Trace& so_far, const std::vector<TensorPtr>& unchanged) {
      for (; result.agreeing < values_ && arrays_[result.agreeing].name.id == stage; ++result.agreeing) {
        const Array& array = arrays_[result.agreeing];
        const auto agrees_with = [&](const TensorPtr& tensor) {
          if (!tensor || surely_differs(array, *tensor)) return false;
          Trace with = so_far;
          with.tensors.*(tensor_entry(stage).member) = tensor;
          return compared(with, array, variant).agrees();
        };
        if (!agrees_with(so_far.tensor(stage)) && !std::ranges::any_of(unchanged, agrees_with)) return false;
      }
      return result.agreeing < values_;
    });
    if (result.agreeing < values_) return result;
    if (values_ == arrays_.size()) {
      result.all = true;
    } else if (!variant.stages.empty()) {
      result.unjudged = arrays_.size() - values_;
      result.all = first_ < values_;
    } else {
      result.all = gradients_agree(variant, values_);
      if (result.all) result.agreeing = arrays_.size();
    }
  } catch (const Error&) {
    return {};  // the variant is not valid for these inputs: it is no cause
  } catch (const std::out_of_range&) {
    return {};  // nor is one that was made for other sizes
  }
  return result;
}

std::vector<double> VariantTrials::residuals(const ProgramVariant& variant, Residuals of) const {
  std::vector<double> result;
  try {
    const Trace base = base_of(variant);
    std::size_t next = first_;
    const std::size_t end = of == Residuals::of_all ? std::max(values_, first_ + 1) : first_ + 1;
    retraced(base, variant.stages, [&](Id stage, const Trace& so_far, const std::vector<TensorPtr>&) {
      for (; next < end && arrays_[next].name.id == stage; ++next) {
        const ComparedArray now = compared(so_far, arrays_[next], variant);
        if (!now.ours || !now.theirs) {
          result.clear();
          return false;
        }
        const Index step = std::max<Index>(1, now.ours->size() / static_cast<Index>(enough_residuals));
        for (Index i = 0; i < now.ours->size(); i += step) {
          const double a = now.ours->flat(i), b = now.theirs->flat(i);
          result.push_back(std::isfinite(a) && std::isfinite(b) ? a - b : 0.0);
        }
      }
      return next < end;
    });
  } catch (const Error&) {
    result.clear();
  } catch (const std::out_of_range&) {
    result.clear();
  }
  return result;
}

}  // namespace headwise
