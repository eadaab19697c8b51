#include "core/compare/variant_trials.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>

#include "core/attention/attention_sizes.h"
#include "core/attention/multi_head_attention.h"
#include "core/attention/output_gate.h"
#include "core/attention/reference_backend.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/compare/tensor_readings.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

using Id = TensorId;

// Throws Error if a change was made for other sizes than the trace has now, which what follows could not
// compute with: another change has added or removed keys.
TensorPtr of_same_sizes(const TensorPtr& before, Tensor changed) {
  if (before && !changed.shape().same_sizes(before->shape()))
    throw Error(ExitStatus::input, {"a changed stage", "its sizes do not fit", changed.shape().to_string(),
                                    before->shape().to_string(), ""});
  return shared_tensor(std::move(changed));
}

// Takes every stage until the visitor stops it: recomputed if a source has changed, then modified by the
// changes of this stage.
class Retracing final : public Stages {
 public:
  Retracing(const Trace& base, std::span<const StageChange> changes, const StageVisitor& visit)
      : changes_(changes), visit_(visit) {
    trace_.options = base.options;  // what else it has would be copied in vain
    trace_.dtype = base.dtype;
    trace_.tensors = base.tensors;
  }

  Trace all() {
    const AttentionSizes sizes = attention_sizes(trace_.options, trace_.tensors);
    ForwardPass pass{trace_.tensors, trace_.options, sizes, trace_.dtype, *this};
    attention(pass);
    return std::move(trace_);
  }

  // Until a change has been made, and behind the last array that is looked at.
  bool keeps(Id id) override {
    if (stopped_) return true;
    if (!changed_.empty()) return false;
    change(id);
    return true;
  }

 private:
  TensorPtr& member(Id id) { return trace_.tensors.*(tensor_entry(id).member); }

  void take(Stage stage) override {
    if (stopped_) return;
    const bool anew = std::ranges::any_of(stage.key.sources,
                                          [&](const TensorPtr& source) { return changed_.contains(source); });
    if (anew) changed_.insert(member(stage.id) = shared_tensor(stage.compute()));
    change(stage.id);
  }

  void name(Id id, const TensorPtr& source, const TensorPtr& tensor) override {
    if (stopped_) return;
    if (changed_.contains(source)) member(id) = tensor;
    change(id);
  }

  void change(Id id) {
    TensorPtr& tensor = member(id);
    std::vector<TensorPtr> unchanged;
    for (const StageChange& change : changes_) {
      if (change.stage != id) continue;
      if (unchanged.empty() && tensor) unchanged.push_back(tensor);
      tensor = of_same_sizes(tensor, change.change(trace_));
      changed_.insert(tensor);
    }
    if (id == Id::attn_weights || id == Id::dropped_weights)
      weights_unchanged_.insert(weights_unchanged_.end(), unchanged.begin(), unchanged.end());
    if (id == Id::dropped_weights && !unchanged.empty())
      weights_unchanged_.push_back(trace_.tensors.attn_weights);
    if (id == Id::attn_output_weights && tensor) {
      for (const TensorPtr& weights : weights_unchanged_)
        unchanged.push_back(trace_.options.average_attn_weights ? shared_tensor(average_over_heads(*weights))
                                                                : weights);
    }
    stopped_ = !visit_(id, trace_, unchanged);
  }

  Trace trace_;
  std::span<const StageChange> changes_;
  const StageVisitor& visit_;
  std::set<TensorPtr> changed_;
  std::vector<TensorPtr> weights_unchanged_;
  bool stopped_ = false;
};

}  // namespace

Trace widened_trace(const Trace& trace) {
  Trace wide = trace.exact ? *trace.exact : trace;
  wide.exact = nullptr;
  wide.tensors = widened(wide.tensors);
  wide.dtype = DType::f64;
  return wide;
}

Trace retraced(const Trace& base, std::span<const StageChange> changes, const StageVisitor& visit) {
  return Retracing(base, changes, visit).all();
}

namespace {

// The inputs in f64, as in the widened trace, so that shared tensors stay shared.
AttentionInputs widened_inputs(const AttentionInputs& inputs, const Trace& wide) {
  AttentionInputs result = inputs;
  result.dtype = DType::f64;
  const bool heads_given = inputs.options.op == Op::scaled_dot_product_attention;
  for (const TensorEntry& entry : tensor_entries()) {
    TensorPtr& tensor = result.tensors.*(entry.member);
    if (!tensor || (entry.role == TensorRole::intermediate && !is_given_to_sdpa(entry.id))) continue;
    const Id of_heads = entry.id == Id::query   ? Id::q_heads
                        : entry.id == Id::key   ? Id::k_heads
                        : entry.id == Id::value ? Id::v_heads
                                                : entry.id;
    if (const TensorPtr made = wide.tensor(heads_given ? of_heads : entry.id)) tensor = made;
  }
  return result;
}

constexpr std::size_t enough_residuals = 4096;  // cells that a number is fitted to
constexpr Index enough_columns = 16;            // of the output, where a few tell as much as all

// Whether only options differ that are read behind the split into heads, mask_bias apart.
bool same_heads(const AttentionInputs& a, const AttentionInputs& b) {
  AttentionOptions of_a = a.options;
  for_options_with<AttentionOptions>(
      read_behind_split, [&](const OptionRow&, auto member) { of_a.*member = b.options.*member; });
  of_a.mask_value = b.options.mask_value;
  of_a.fully_masked_rows = b.options.fully_masked_rows;
  of_a.rotary_inverse_frequencies = b.options.rotary_inverse_frequencies;
  return of_a == b.options && std::ranges::all_of(tensor_entries(), [&](const TensorEntry& entry) {
           return a.tensors.*(entry.member) == b.tensors.*(entry.member);
         });
}

StageChange recomputed(Id id) {
  return {id, [id](const Trace& so_far) { return required(so_far, id); }};
}

// One cell of the output projection.
double projected_cell(const TraceTensors& t, Index row, Index column) {
  const std::span<const double> x = (t.*tensor_entry(rows_of_output(t)).member)->values<double>(),
                                weight = t.out_proj_weight->values<double>();
  const Index width = t.out_proj_weight->shape().size(1);
  const auto first = x.begin() + row * width;
  return std::inner_product(first, first + width, weight.begin() + column * width,
                            t.out_proj_bias ? t.out_proj_bias->flat(column) : 0.0);
}

bool differ(double a, double b, double tolerance) {
  return std::abs(a - b) > 2.0 * tolerance * std::max({std::abs(a), std::abs(b), 1.0});
}

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
        tensor_readings(array.tensor, own->shape(), stored->array, search.options.batch_first).size() == 1;
    arrays_.push_back({&*stored, array.tensor, tolerance, plain ? array.theirs : nullptr});
    if (!plain || array.tensor.id != Id::output || array.theirs->shape().rank() != 3) continue;
    const Index width = array.theirs->shape().size(2);
    std::vector<double> sizes(static_cast<std::size_t>(width), 0.0);
    for (Index i = 0; i < array.theirs->size(); ++i)
      sizes[static_cast<std::size_t>(i % width)] += std::abs(array.theirs->flat(i));
    largest_column_ = std::ranges::max_element(sizes) - sizes.begin();
  }
}

Trace VariantTrials::base_of(const ProgramVariant& variant) const {
  return variant.change ? after(variant).ours_ : ours_;
}

VariantTrials VariantTrials::after(const ProgramVariant& variant) const {
  VariantTrials trials = *this;
  if (!variant.change) return trials;
  variant.change(trials.inputs_);
  trials.ours_ = *reference_forward(trials.inputs_, &ours_);
  return trials;
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
    if (differ(tensor.flat(i), array.read->flat(i), array.tolerance)) return true;
  }
  return false;
}

VariantTrials::Beginning VariantTrials::beginning(const ProgramVariant& variant) const {
  if (!variant.change) return {ours_, variant.stages};
  AttentionInputs changed = inputs_;
  variant.change(changed);
  if (!same_heads(inputs_, changed)) return {*reference_forward(changed, &ours_), variant.stages};
  const Id of_keys = is_latent(changed.options) ? Id::kv_a : Id::k_heads;  // what keys are rotated from
  Beginning begun{{}, {recomputed(Id::q_heads), recomputed(of_keys)}};
  if (rotation_of(changed.options) == rotation_of(inputs_.options)) begun.stages = {recomputed(Id::scores)};
  begun.stages.insert(begun.stages.end(), variant.stages.begin(), variant.stages.end());
  begun.trace.options = resolved_options(changed);
  begun.trace.dtype = ours_.dtype;
  begun.trace.tensors = ours_.tensors;
  return begun;
}

// The output as the array to be judged next, if the stages lead to it through the output projection: then a
// few columns of it can be had for much less than the whole. Null otherwise.
const VariantTrials::Array* VariantTrials::projected_next(std::span<const StageChange> stages,
                                                          std::size_t next) const {
  if (next >= values_ || arrays_[next].name.id != Id::output || !arrays_[next].read) return nullptr;
  if (!projects(ours_.options.op) || ours_.dtype != DType::f64) return nullptr;
  const auto is = [&](auto&& holds) { return std::ranges::any_of(stages, holds, &StageChange::stage); };
  const bool reaches =
      is([](Id id) { return id <= Id::concat; }) && !is([](Id id) { return id == Id::output; });
  return reaches ? &arrays_[next] : nullptr;
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
    std::optional<Beginning> begun;
    if (!given_base && variant.change) begun = beginning(variant);
    const Trace& base = begun ? begun->trace : given_base ? *given_base : ours_;
    const std::vector<StageChange>& stages = begun ? begun->stages : variant.stages;
    retraced(base, stages, [&](Id stage, const Trace& so_far, const std::vector<TensorPtr>& unchanged) {
      if (stage == rows_of_output(so_far.tensors)) {
        if (const Array* output = projected_next(stages, result.agreeing)) {
          const Index width = output->read->shape().size(2);
          for (Index row = 0; row < output->read->size() / width; ++row)
            if (differ(projected_cell(so_far.tensors, row, largest_column_),
                       output->read->flat(row * width + largest_column_), output->tolerance))
              return false;
        }
      }
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
  const auto add = [&](double a, double b) {
    result.push_back(std::isfinite(a) && std::isfinite(b) ? a - b : 0.0);
  };
  try {
    std::optional<Beginning> begun;
    if (variant.change) begun = beginning(variant);
    const std::vector<StageChange>& stages = begun ? begun->stages : variant.stages;
    std::size_t next = first_;
    const std::size_t end = of == Residuals::of_all ? std::max(values_, first_ + 1) : first_ + 1;
    retraced(
        begun ? begun->trace : ours_, stages, [&](Id stage, const Trace& so_far, const std::vector<TensorPtr>&) {
          if (stage == rows_of_output(so_far.tensors) && of == Residuals::of_some_columns) {
            if (const Array* output = projected_next(stages, first_)) {
              const Index width = output->read->shape().size(2);
              const Index step = std::max<Index>(1, width / enough_columns);
              for (Index row = 0; row < output->read->size() / width; ++row)
                for (Index column = 0; column < width; column += step)
                  add(projected_cell(so_far.tensors, row, column), output->read->flat(row * width + column));
              return false;
            }
          }
          for (; next < end && arrays_[next].name.id == stage; ++next) {
            const Array& array = arrays_[next];
            TensorPtr own = so_far.tensor(stage), theirs = array.read;
            if (own && !(theirs && own->shape().same_sizes(theirs->shape()))) {
              const ComparedArray now = compared(so_far, array, variant);
              own = now.ours;
              theirs = now.theirs;
            }
            if (!own || !theirs) {
              result.clear();
              return false;
            }
            const Index step = std::max<Index>(1, own->size() / static_cast<Index>(enough_residuals));
            for (Index i = 0; i < own->size(); i += step) add(own->flat(i), theirs->flat(i));
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
