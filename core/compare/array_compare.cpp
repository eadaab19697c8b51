#include "core/compare/array_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/heads.h"
#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/compare/tensor_readings.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

using Id = TensorId;

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

bool is_float(DType type) {
  return type == DType::f32 || type == DType::f64;
}

// The position of a tensor in the order of computation; gradients follow, from the output back.
int order_of(TensorName name) {
  const auto place = static_cast<int>(name.id);
  return name.gradient ? 2 * static_cast<int>(tensor_entries().size()) - place : place;
}

// The largest norm of a row of the last axis.
double largest_norm(const Tensor& x) {
  const Index width = x.shape().size(x.shape().rank() - 1);
  double largest = 0.0;
  for (Index row = 0; width > 0 && row < x.size(); row += width) {
    double squares = 0.0;
    for (Index d = 0; d < width; ++d) squares += x.flat(row + d) * x.flat(row + d);
    largest = std::max(largest, std::sqrt(squares));
  }
  return largest;
}

bool is_zero_or_one(const Tensor& tensor) {
  for (Index i = 0; i < tensor.size(); ++i) {
    if (tensor.flat(i) != 0.0 && tensor.flat(i) != 1.0) return false;
  }
  return true;
}

// What a boolean mask adds: 0, or −inf where it blocks.
TensorPtr as_bias(const Tensor& mask, bool true_blocks) {
  Tensor bias(mask.shape(), DType::f64);
  for (Index i = 0; i < mask.size(); ++i)
    bias.set_flat(i, (mask.flat(i) != 0.0) == true_blocks ? minus_infinity : 0.0);
  return std::make_shared<const Tensor>(std::move(bias));
}

// key_padding_mask always blocks where it is True;
// attn_mask and what is merged from it depend on the operator.
bool true_blocks(Id id, Op op) {
  return id == Id::key_padding_mask || projects(op);
}

// Converts both sides of a mask to the same kind of numbers; says in `reading` what was converted.
// Other tensors stay.
void read_types(ComparedArray& array, Op op) {
  const Id id = array.tensor.id;
  const bool mask =
      !array.tensor.gradient && (id == Id::attn_mask || id == Id::key_padding_mask || id == Id::mask_bias);
  if (!mask || array.ours->dtype() == array.theirs->dtype()) return;
  const bool blocks = true_blocks(id, op);
  const char* sense = blocks ? "True read as -inf" : "False read as -inf";
  std::string note;
  if (is_float(array.ours->dtype()) && array.theirs->dtype() == DType::boolean) {
    array.theirs = as_bias(*array.theirs, blocks);
    note = sense;
  } else if (array.ours->dtype() == DType::boolean && !is_zero_or_one(*array.theirs)) {
    array.ours = as_bias(*array.ours, blocks);
    note = std::string("ours is bool: ") + sense;
  }
  if (!note.empty()) array.reading += (array.reading.empty() ? "" : ", ") + note;
}

std::string with_sizes(const Shape& shape) {
  return shape.letters() + " = " + shape.sizes_text();
}

// Why no reading fits, as far as the sizes show.
std::string shape_refusal(TensorName name, const Shape& ours, const Tensor& stored) {
  const Shape& theirs = stored.shape();
  const std::string facts =
      fmt::format("the shapes disagree: ours {}, theirs {}", with_sizes(ours), theirs.sizes_text());
  for (const AxisOrder& order : transposed_orders(ours, theirs.sizes())) {
    return fmt::format("{}; it would fit as {}: transposed?", facts, order_text(ours, order));
  }
  if (name.id == Id::attn_output_weights && theirs.rank() + 1 == ours.rank())
    return facts + "; theirs are averaged over the heads: --set attention.average_attn_weights=true";
  if (name.id == Id::attn_output_weights && theirs.rank() == ours.rank() + 1)
    return facts + "; theirs are a head each: --set attention.average_attn_weights=false";
  if (stored.size() == ours.element_count() && stored.size() > 0)
    return facts + "; the count of numbers is the same, so the axes were joined or split in another order";
  return facts;
}

// Of several readings the first that agrees, else the one with the fewest differing cells.
void choose_reading(ComparedArray& array, const std::vector<TensorReading>& readings, Op op) {
  std::optional<ComparedArray> best;
  for (const TensorReading& reading : readings) {
    ComparedArray candidate = array;
    candidate.theirs = reading.tensor;
    candidate.reading = reading.reading.empty() ? array.reading : "read as " + reading.reading;
    if (!array.reading.empty() && !reading.reading.empty()) candidate.reading += ", " + array.reading;
    read_types(candidate, op);
    candidate.difference =
        compare_tensors(array.tensor, *candidate.ours, *candidate.theirs, array.tolerance, array.least_unit);
    if (!best || candidate.difference.differing_cells < best->difference.differing_cells)
      best = std::move(candidate);
  }
  array = std::move(*best);
}

// Keys and values of heads, and the present, with one head per query head: ours, repeated likewise.
TensorPtr repeated_heads(const Trace& trace, TensorName name, const Tensor& ours, const HeadCopies& copies) {
  const bool values = name.id == Id::v_heads || name.id == Id::present_value;
  const bool grouped = values || name.id == Id::k_heads || name.id == Id::k_normed ||
                       name.id == Id::k_rotary || name.id == Id::present_key;
  if (name.gradient || !grouped) return nullptr;
  if (trace.options.num_heads == trace.options.num_kv_heads) return nullptr;
  const HeadCopy copy = values ? copies.values : copies.keys;
  return std::make_shared<const Tensor>(copy == HeadCopy::neighbours ? repeat_kv(ours, trace.options.num_heads)
                                                                     : tile_kv(ours, trace.options.num_heads));
}

}  // namespace

ComparedArray compare_array(const Trace& trace, TensorName name, const StoredTensor& stored,
                            const ArrayComparisonOptions& options) {
  ComparedArray array;
  array.stored_name = stored.name;
  array.stored_dtype = stored.stored_dtype;
  array.stored_shape = stored.array.outline().shape().sizes_text();
  array.tensor = name;
  array.ours = trace.tensor(name);
  array.tolerance = options.tolerance.value_or(tolerance_of(trace, name, stored.stored_dtype));
  array.least_unit = gradient_unit(trace, name);
  array.difference.tensor = name;
  array.difference.our_shape = array.ours->shape().sizes_text();
  array.difference.their_shape = array.stored_shape;
  const auto refuse = [&](std::string why) {
    array.refusal = std::move(why);
    array.ours = array.theirs = nullptr;
    return array;
  };
  const bool is_mask = tensor_entry(name.id).role == TensorRole::mask || name.id == Id::mask_bias;
  if (stored.array.outline().dtype() == DType::boolean && (!is_mask || name.gradient))
    return refuse(
        "theirs is an array of True and False; ours holds numbers: was it stored as bool by mistake?");

  std::vector<TensorReading> readings =
      tensor_readings(name, array.ours->shape(), stored.array, options.batch_first);
  if (readings.empty()) {
    if (const TensorPtr repeated = repeated_heads(trace, name, *array.ours, options.copies)) {
      readings = tensor_readings(name, repeated->shape(), stored.array, options.batch_first);
      if (!readings.empty()) {
        array.ours = repeated;
        array.reading = fmt::format("each key/value head repeated for its {} query heads",
                                    trace.options.num_heads / trace.options.num_kv_heads);
      }
    }
  }
  if (readings.empty()) return refuse(shape_refusal(name, array.ours->shape(), stored.array.outline()));
  choose_reading(array, readings, trace.options.op);
  if (stored.array.outline().dtype() == DType::i64 && name.id != Id::valid_lens &&
      name.id != Id::nonpad_kv_seqlen && !is_mask)
    array.reading += (array.reading.empty() ? "" : ", ") + std::string("whole numbers read as they are");
  return array;
}

namespace {

bool fits(const Trace& trace, TensorName name, const GivenArray& stored, bool batch_first) {
  const TensorPtr ours = trace.tensor(name);
  return ours && !tensor_readings(name, ours->shape(), stored, batch_first).empty();
}

// PyTorch's own source calls the heads' output attn_output before they are merged, and the weights of each
// head attn_output_weights before they are averaged: if only that fits, that is meant.
TensorName intended_tensor(const Trace& trace, TensorName name, const StoredTensor& stored, bool batch_first) {
  const bool attn_output = stored.name == "attn_output" || stored.name == "attn_output.grad";
  const TensorName inner{attn_output ? Id::head_output : Id::dropped_weights, name.gradient};
  if (!attn_output && name.id != Id::attn_output_weights) return name;
  const TensorPtr ours = trace.tensor(inner);
  if (!ours || fits(trace, name, stored.array, batch_first)) return name;
  const std::vector<Index> sizes = stored.array.outline().shape().sizes();
  const AxisOrder folded{{{0, 1}, {2}, {3}}};  // (N·H,L,Dv)
  const bool is_inner = sizes == ours->shape().sizes() || sizes == order_sizes(ours->shape(), folded);
  return is_inner ? inner : name;
}

std::string no_tensor(const std::string& name) {
  const std::string nearest = nearest_tensor_name(name);
  return "there is no tensor of that name" + (nearest.empty() ? nearest : "; the nearest is " + nearest);
}

}  // namespace

const ComparedArray* ArrayComparison::first_difference() const {
  const auto first = std::ranges::find_if_not(arrays, &ComparedArray::agrees);
  return first == arrays.end() ? nullptr : &*first;
}

std::optional<TensorName> stored_tensor_name(const std::string& name, Op op) {
  constexpr std::string_view suffix = ".grad";
  if (name.ends_with(suffix)) {
    const auto of = stored_tensor_name(name.substr(0, name.size() - suffix.size()), op);
    return of && !of->gradient ? std::optional(TensorName{of->id, true}) : std::nullopt;
  }
  std::string trace_name = name;
  const std::string prefix = name.starts_with("grad.") ? "grad." : "";
  const std::string bare = name.substr(prefix.size());
  if (bare == "attn_output") trace_name = prefix + "output";
  if (op == Op::scaled_dot_product_attention) {
    if (bare == "query") trace_name = prefix + "q_heads";
    if (bare == "key") trace_name = prefix + "k_heads";
    if (bare == "value") trace_name = prefix + "v_heads";
  }
  return find_tensor_name(trace_name);
}

double stored_tolerance(DType ours, const std::string& stored_dtype, bool gradient) {
  const double values =
      stored_dtype == "bf16" ? 1.6e-2  // two units in the last place of 8 bits, including intermediate
                                       // rounding
      : stored_dtype == "f16" ? 2e-3
                              : default_tolerance(ours, stored_dtype == "f32" ? DType::f32 : DType::f64);
  return gradient ? 10 * values : values;
}

double large_score_factor(const Trace& trace, TensorName name) {
  constexpr double exact_enough = 20.0;
  const TensorPtr queries = queries_of_scores(trace.tensors, trace.options),
                  keys = keys_of_scores(trace.tensors, trace.options);
  if (name.gradient || name.id < Id::scores || name.id == Id::mask_bias || !queries || !keys) return 1.0;
  const double product = largest_norm(*queries) * largest_norm(*keys);
  const double size = name.id == Id::scores ? product : std::abs(score_scale(trace.options).linear(product));
  return std::isfinite(size) ? std::max(1.0, size / exact_enough) : 1.0;
}

double tolerance_of(const Trace& ours, TensorName name, const std::string& stored_dtype) {
  const double tolerance = stored_tolerance(ours.dtype, stored_dtype, name.gradient);
  const bool in_f32 = tolerance == default_tolerance(DType::f32, DType::f32);
  return in_f32 ? tolerance * large_score_factor(ours, name) : tolerance;
}

double gradient_unit(const Trace& trace, TensorName name) {
  if (!name.gradient) return 0.0;
  const TraceTensors& grad = trace.grad;
  const TensorPtr& first = grad.layer_norm_output ? grad.layer_norm_output
                           : grad.residual_output ? grad.residual_output
                                                  : grad.output;
  return first ? 0.1 * largest_magnitude(*first) : 0.0;
}

ArrayComparison compare_arrays(const Trace& ours, const std::vector<StoredTensor>& theirs,
                               const ArrayComparisonOptions& options) {
  ArrayComparison comparison;
  for (const StoredTensor& stored : theirs) {
    std::optional<TensorName> name = stored_tensor_name(stored.name, ours.options.op);
    if (!name) {
      const std::string reason = stored.name == "grad_output"
                                     ? "it is an input of the backward pass: give it with --input"
                                     : no_tensor(stored.name);
      comparison.skipped.push_back({stored.name, reason});
      continue;
    }
    name = intended_tensor(ours, *name, stored, options.batch_first);
    if (!ours.tensor(*name)) {
      comparison.skipped.push_back({stored.name, why_absent(ours, *name)});
      continue;
    }
    comparison.arrays.push_back(compare_array(ours, *name, stored, options));
  }
  std::ranges::stable_sort(comparison.arrays, {},
                           [](const ComparedArray& array) { return order_of(array.tensor); });
  return comparison;
}

}  // namespace headwise
