#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "core/attention/grad_output.h"
#include "core/attention/reference_backend.h"
#include "core/tensor/error.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;

namespace {

TensorPtr last_output(const Trace& trace) {
  return trace.tensor(headwise::last_output(trace.tensors));
}

double loss(const AttentionInputs& inputs, const Tensor& grad_output) {
  const TracePtr trace = reference_forward(inputs);
  double sum = 0.0;
  for (Index i = 0; i < grad_output.size(); ++i) sum += grad_output.flat(i) * last_output(*trace)->flat(i);
  return sum;
}

// The array, wherever it stands in the inputs, with one cell moved.
AttentionInputs moved(const AttentionInputs& inputs, const TensorPtr& array, Index cell, double by) {
  AttentionInputs out = inputs;
  Tensor changed = *array;
  changed.set_flat(cell, changed.flat(cell) + by);
  const auto made = std::make_shared<const Tensor>(std::move(changed));
  for (const TensorEntry& entry : tensor_entries()) {
    TensorPtr& slot = out.tensors.*(entry.member);
    if (slot == array) slot = made;
  }
  return out;
}

// scaled_dot_product_attention keeps its query as q_heads, and so on.
TensorId in_trace(TensorId given, Op op) {
  if (projects(op)) return given;
  if (given == TensorId::query) return TensorId::q_heads;
  if (given == TensorId::key) return TensorId::k_heads;
  return given == TensorId::value ? TensorId::v_heads : given;
}

bool all_finite(const Tensor& tensor) {
  for (Index i = 0; i < tensor.size(); ++i)
    if (!std::isfinite(tensor.flat(i))) return false;
  return true;
}

// Cells spread over every gradient of an input, parameter and mask, against (loss(x+ε) − loss(x−ε)) / 2ε.
// Returns how many were looked at, and adds the names of their tensors.
Index check_by_finite_differences(const NamedInputs& named, std::set<std::string>& names) {
  constexpr double epsilon = 1e-5;
  constexpr Index cells_of_each = 24;  // spread over the array
  const AttentionInputs& inputs = named.inputs;
  const TracePtr forward = reference_forward(inputs);
  if (!all_finite(*last_output(*forward))) return 0;
  const TensorPtr grad_output = random_tensor(last_output(*forward)->shape(), "grad_output");
  const TracePtr trace = reference_backward(*forward, grad_output);
  Index looked_at = 0;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr given = inputs.tensors.*(entry.member);
    const TensorPtr gradient = trace->tensor(TensorName{in_trace(entry.id, inputs.options.op), true});
    if (!given || !gradient) continue;
    CHECK(gradient->shape().same_sizes(given->shape()));
    names.insert(std::string(entry.name));
    const Index step = std::max<Index>(1, given->size() / cells_of_each);
    for (Index cell = 0; cell < given->size(); cell += step, ++looked_at) {
      if (!std::isfinite(given->flat(cell))) continue;  // -inf in a mask
      const double slope = (loss(moved(inputs, given, cell, epsilon), *grad_output) -
                            loss(moved(inputs, given, cell, -epsilon), *grad_output)) /
                           (2.0 * epsilon);
      CHECK_MESSAGE(gradient->flat(cell) == doctest::Approx(slope).epsilon(1e-6).scale(1e-2), named.name,
                    ", ", entry.name, " cell ", cell);
    }
  }
  return looked_at;
}

}  // namespace

TEST_CASE("every gradient is the slope that finite differences find, option by option") {
  Index looked_at = 0;
  std::set<std::string> names;
  for (NamedInputs named : single_option_inputs()) {
    // A gain is an option; as a tensor it can be moved.
    const std::vector<double>& gain = named.inputs.options.head_gain;
    if (!gain.empty()) {
      named.inputs.tensors.head_gain =
          std::make_shared<const Tensor>(Shape{{"H", static_cast<Index>(gain.size())}}, gain);
    }
    looked_at += check_by_finite_differences(named, names);
  }
  CHECK(looked_at > 1000);
  for (const TensorEntry& entry : tensor_entries()) {
    const bool constant = entry.id == TensorId::valid_lens || entry.id == TensorId::nonpad_kv_seqlen ||
                          entry.id == TensorId::frozen_weights;
    // No gradient goes through the choice of keys.
    const bool has_gradient = !is_of_indexer(entry.id) && entry.role != TensorRole::intermediate && !constant;
    CHECK_MESSAGE(names.contains(std::string(entry.name)) == has_gradient, entry.name);
  }
}

TEST_CASE("every gradient is the slope that finite differences find, options together") {
  Index looked_at = 0;
  std::set<std::string> names;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    looked_at += check_by_finite_differences(random_combination(seed), names);
  CHECK(looked_at > 500);
}

TEST_CASE("a query's loss has no gradient at keys that a causal mask hides") {
  AttentionInputs inputs = random_inputs(small_options(), {1, 4, 4});
  inputs.options.is_causal = true;
  const TracePtr forward = reference_forward(inputs);
  Tensor at_query_1(forward->tensors.output->shape(), DType::f64);
  for (Index e = 0; e < 12; ++e) at_query_1.set_flat(12 + e, 1.0);
  const TracePtr trace = reference_backward(*forward, std::make_shared<const Tensor>(at_query_1));
  for (Index s = 0; s < 4; ++s) {
    double largest = 0.0;
    for (Index e = 0; e < 12; ++e) {
      largest = std::max(
          {largest, std::abs(trace->grad.key->at({0, s, e})), std::abs(trace->grad.value->at({0, s, e}))});
    }
    CHECK((largest > 0.0) == (s <= 1));
  }
}

TEST_CASE("in self-attention the query's gradient is the total of three") {
  AttentionInputs apart = random_inputs(small_options(), {2, 5, 5});
  apart.tensors.key = std::make_shared<const Tensor>(*apart.tensors.query);
  apart.tensors.value = std::make_shared<const Tensor>(*apart.tensors.query);
  AttentionInputs self = apart;
  self.tensors.key = self.tensors.value = self.tensors.query;
  const TraceTensors three = reference_backward(*reference_forward(apart))->grad;
  const TraceTensors one = reference_backward(*reference_forward(self))->grad;
  CHECK_FALSE(one.key);
  CHECK_FALSE(one.value);
  for (Index i = 0; i < one.query->size(); ++i) {
    CHECK(one.query->flat(i) ==
          doctest::Approx(three.query->flat(i) + three.key->flat(i) + three.value->flat(i)));
  }
}

TEST_CASE("fully masked rows set to zero keep every gradient finite; set to NaN they spoil every parameter") {
  AttentionInputs inputs = random_inputs(small_options());
  Tensor mask(Shape{{"L", 4}, {"S", 6}}, DType::boolean);
  for (Index s = 0; s < 6; ++s) mask.set_flat(6 + s, 1.0);
  inputs.tensors.attn_mask = std::make_shared<const Tensor>(mask);
  inputs.options.fully_masked_rows = FullyMaskedRows::zero;
  const TraceTensors zero = reference_backward(*reference_forward(inputs))->grad;
  CHECK(all_finite(*zero.in_proj_weight));
  CHECK(all_finite(*zero.query));
  inputs.options.fully_masked_rows = FullyMaskedRows::nan;
  const TraceTensors nan = reference_backward(*reference_forward(inputs))->grad;
  CHECK(std::isnan(nan.in_proj_weight->flat(0)));
  CHECK(std::isnan(nan.out_proj_weight->flat(0)));
}

TEST_CASE("the backward pass keeps the forward trace and refuses a grad_output of another shape or type") {
  const TracePtr forward = reference_forward(random_inputs(small_options()));
  const TracePtr trace = reference_backward(*forward);
  CHECK(trace->tensors.scores == forward->tensors.scores);
  CHECK_FALSE(forward->grad.scores);
  CHECK(trace->grad.output->flat(0) == 1.0);
  CHECK_FALSE(trace->grad.attn_output_weights);
  CHECK_THROWS_AS(reference_backward(*forward, zeros({{"N", 2}, {"L", 4}, {"E", 11}}, DType::f64)), Error);
  CHECK_THROWS_AS(reference_backward(*forward, zeros({{"N", 2}, {"L", 4}, {"E", 12}}, DType::f32)), Error);
}
