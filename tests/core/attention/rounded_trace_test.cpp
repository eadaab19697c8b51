#include "core/attention/reference_backend.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/core/attention/golden_cases.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;

namespace {

// The name of the first tensor of an f32 trace that is not the f64 one rounded; empty where all are.
std::string first_not_rounded(const TraceTensors& narrow, const TraceTensors& wide) {
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr got = narrow.*(entry.member), exact = wide.*(entry.member);
    if (!got != !exact) return std::string(entry.name) + " is missing in one";
    if (got && !identical(*got, exact->dtype() == DType::f64 ? exact->converted(DType::f32) : *exact))
      return std::string(entry.name);
  }
  return "";
}

AttentionInputs with_large_queries(double amplitude) {
  AttentionInputs inputs = random_inputs(small_options(), {}, DType::f32);
  inputs.tensors.query = random_tensor(inputs.tensors.query->shape(), "query", DType::f32, amplitude);
  return inputs;
}

}  // namespace

TEST_CASE("every number of an f32 trace, and every gradient, is the f64 one rounded") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const AttentionInputs narrow = converted(random_combination(seed).inputs, DType::f32);
    const AttentionInputs wide = converted(narrow, DType::f64);
    const TracePtr rounded = reference_forward(narrow), exact = reference_forward(wide);
    REQUIRE(rounded->exact);
    CHECK(first_not_rounded(rounded->tensors, exact->tensors) == "");
    const TracePtr rounded_back = reference_backward(*rounded), exact_back = reference_backward(*exact);
    CHECK(first_not_rounded(rounded_back->grad, exact_back->grad) == "");
    CHECK(rounded->warnings == exact->warnings);
  }
}

TEST_CASE("what is one tensor in f64 is one tensor in f32, and what is given stays what it is") {
  AttentionInputs inputs = random_inputs(small_options(), {2, 5, 5}, DType::f32);
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  const TracePtr trace = reference_forward(inputs);
  CHECK(trace->tensors.query == inputs.tensors.query);
  CHECK(trace->tensors.key == inputs.tensors.query);
  CHECK(trace->tensors.masked_scores == trace->tensors.scaled_scores);
  CHECK(trace->tensors.dropped_weights == trace->tensors.attn_weights);
  const TensorPtr ones = reference_backward(*trace)->grad.output;
  CHECK(ones->dtype() == DType::f32);
  CHECK(reference_backward(*trace, ones)->grad.output == ones);
}

TEST_CASE("an edit of an f32 trace computes and rounds what depends on it and nothing else") {
  AttentionInputs inputs = random_inputs(small_options(), {}, DType::f32);
  const TracePtr first = reference_forward(inputs);
  CHECK(reference_forward(inputs, first.get())->computed.empty());
  inputs.tensors.value = random_tensor(inputs.tensors.value->shape(), "another value", DType::f32);
  const TracePtr second = reference_forward(inputs, first.get());
  using Id = TensorId;
  CHECK(second->computed == std::vector<Id>{Id::v, Id::v_heads, Id::head_output, Id::concat, Id::output});
  for (const TensorEntry& entry : tensor_entries()) {
    const bool changed = entry.id == Id::value || std::ranges::count(second->computed, entry.id) == 1;
    const bool shared = second->tensor(entry.id) == first->tensor(entry.id);
    CHECK_MESSAGE(shared == !changed, entry.name);
  }
}

TEST_CASE("a backward pass in f32 computes and rounds the gradients that an edit changes and no others") {
  AttentionInputs inputs = random_inputs(small_options(), {}, DType::f32);
  const TracePtr first = reference_backward(*reference_forward(inputs));
  CHECK(first->computed_gradients.size() == 18);
  inputs.tensors.value = random_tensor(inputs.tensors.value->shape(), "another value", DType::f32);
  const TracePtr forward = reference_forward(inputs, first.get());
  const TracePtr second = reference_backward(*forward, nullptr, first.get());
  using Id = TensorId;
  CHECK(second->computed_gradients ==
        std::vector<Id>{Id::out_proj_weight, Id::dropped_weights, Id::masked_scores, Id::scores, Id::q_heads,
                        Id::k_heads, Id::q, Id::k, Id::in_proj_weight, Id::in_proj_bias, Id::query, Id::key});
  for (const Id id : {Id::output, Id::concat, Id::v_heads, Id::v, Id::value, Id::out_proj_bias})
    CHECK_MESSAGE(second->tensor({id, true}) == first->tensor({id, true}), to_string({id, true}));
  CHECK(first_not_rounded(second->grad, reference_backward(*reference_forward(inputs)->exact)->grad) == "");
}

TEST_CASE("scores that saturate the softmax lose nothing to the rounding of the scores") {
  const AttentionInputs narrow = with_large_queries(3000.0);
  const Tensor exact =
      reference_forward(converted(narrow, DType::f64))->tensors.attn_weights->converted(DType::f32);
  CHECK(identical(*reference_forward(narrow)->tensors.attn_weights, exact));
  Trace stage_by_stage = *reference_forward(narrow);
  stage_by_stage.exact = nullptr;
  CHECK_FALSE(rounded_backward(stage_by_stage, stage_by_stage.tensors.output, nullptr));
}

TEST_CASE("a number beyond f32 makes each stage overflow by itself, down to NaN in the weights") {
  const AttentionInputs inputs = with_large_queries(1e38);
  const TracePtr trace = reference_forward(inputs);
  CHECK_FALSE(trace->exact);
  bool infinite = false, not_a_number = false;
  for (Index i = 0; i < trace->tensors.scores->size(); ++i) {
    infinite = infinite || std::isinf(trace->tensors.scores->flat(i));
    not_a_number = not_a_number || std::isnan(trace->tensors.attn_weights->flat(i));
  }
  CHECK(infinite);
  CHECK(not_a_number);
}

TEST_CASE("a twin that would be above the limit is not made") {
  const AttentionInputs inputs = random_inputs(small_options(), {}, DType::f32);
  const Index twin_bytes = 2 * reference_trace_bytes(inputs);
  CHECK(rounded_forward(inputs, nullptr, twin_bytes));
  CHECK_FALSE(rounded_forward(inputs, nullptr, twin_bytes - 2));
}
