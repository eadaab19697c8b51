#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "core/attention/cell_provenance.h"
#include "core/attention/grad_output.h"
#include "core/attention/reference_backend.h"
#include "core/attention/rules.h"
#include "core/tensor/error.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/provenance_checks.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

// A backward pass from a grad_output of normal numbers: all ones would hide sums over the wrong axis.
TracePtr backward_trace(const AttentionInputs& inputs) {
  const TracePtr forward = reference_forward(inputs);
  const TensorPtr last = forward->tensor(last_output(forward->tensors));
  return reference_backward(*forward, random_tensor(last->shape(), "grad_output"));
}

std::vector<NamedInputs> many_inputs() {
  std::vector<NamedInputs> all = single_option_inputs();
  for (std::uint64_t seed = 0; seed < 60; ++seed) all.push_back(random_combination(seed));
  return all;
}

Rule gradient_of(const Trace& trace, Id id) {
  return declared_rule(trace, {id, true});
}

AttentionInputs inputs_of_gradients() {
  return single_option_inputs().front().inputs;
}

}  // namespace

TEST_CASE("every cell of every gradient is the number that its provenance makes, whatever the options") {
  int gradients = 0;
  for (const NamedInputs& named : many_inputs()) {
    CAPTURE(named.name);
    const TracePtr trace = backward_trace(named.inputs);
    CHECK(first_unexplained(*trace) == "");
    for (const Rule& rule : gradient_rules(*trace)) gradients += rule.products.empty() ? 0 : 1;
  }
  CHECK(gradients > 1500);
}

TEST_CASE("a gradient's sources are boxes that hold the cells of its terms, all of them and no others") {
  for (const NamedInputs& named : single_option_inputs()) {
    CAPTURE(named.name);
    CHECK(first_wrong_box(*backward_trace(named.inputs)) == "");
  }
}

TEST_CASE("with a backward pass the consumers of a cell are the tensors and the gradients that name it") {
  std::vector<NamedInputs> all = single_option_inputs();
  for (std::uint64_t seed = 100; seed < 106; ++seed) all.push_back(random_combination(seed));
  for (const NamedInputs& named : all) {
    CAPTURE(named.name);
    const TracePtr trace = backward_trace(named.inputs);
    const Pairs forwards = pairs_from_sources(*trace);
    CHECK(forwards.size() > pairs_from_sources(*reference_forward(named.inputs)).size());
    CHECK((forwards == pairs_from_consumers(*trace)));
  }
}

TEST_CASE("the declared gradient rules are the transposes that the mathematics has") {
  const TracePtr trace = backward_trace(inputs_of_gradients());  // N=2, H=4, G=2, L=3, S=4, D=2, Dv=3, E=8
  const Rule k_heads = gradient_of(*trace, Id::k_heads);
  REQUIRE(k_heads.products.size() == 1);
  const Product& way = k_heads.products[0];
  REQUIRE(way.sums.size() == 2);
  CHECK(way.sums[0].letter == "h");
  CHECK(way.sums[0].size == 2);  // H/G query heads
  CHECK(way.sums[1].letter == "l");
  REQUIRE(way.factors.size() == 2);
  CHECK(way.factors[0].tensor == TensorName{Id::scores, true});
  CHECK(way.factors[0].axes == std::vector{axis_of(0), axis_joined(1, 2, 4), axis_of(5), axis_of(2)});
  CHECK(way.factors[1].tensor == TensorName{Id::q_heads});
  CHECK(way.factors[1].axes == std::vector{axis_of(0), axis_joined(1, 2, 4), axis_of(5), axis_of(3)});

  const Rule q = gradient_of(*trace, Id::q);
  REQUIRE(q.products.size() == 1);
  CHECK(q.products[0].sums.empty());
  CHECK(q.products[0].factors[0].axes ==
        std::vector{axis_of(0), AxisMap{0, {{.variable = 2, .divide = 2}}}, axis_of(1), axis_within(2, 2)});

  const Rule packed = gradient_of(*trace, Id::in_proj_weight);
  REQUIRE(packed.products.size() == 3);
  CHECK(packed.products[0].where.front().range == Interval{0, 8});
  CHECK(packed.products[1].where.front().range == Interval{8, 12});
  CHECK(packed.products[2].where.front().range == Interval{12, 18});
}

TEST_CASE("what is not on the way to the loss has a gradient of no products, and the loss's own is given") {
  for (const NamedInputs& named : single_option_inputs()) {
    const TracePtr trace = backward_trace(named.inputs);
    const Id last = last_output(trace->tensors);
    CAPTURE(named.name);
    for (const Rule& rule : gradient_rules(*trace)) {
      CAPTURE(to_string(rule.result));
      CHECK((rule.combine == Combine::given) == (rule.result.id == last));
      const bool unread = trace->tensors.static_k && (rule.result.id == Id::key || rule.result.id == Id::value);
      const bool all_frozen = trace->options.frozen_heads.size() == 4 && rule.result.id == Id::masked_scores;
      CHECK(rule.products.empty() == (unread || all_frozen || rule.result.id == last));
    }
  }
}

TEST_CASE("key and value that are one array, and not the query, keep a gradient each") {
  AttentionInputs inputs = inputs_of_gradients();
  inputs.tensors.value = inputs.tensors.key;
  const TracePtr trace = backward_trace(inputs);
  CHECK(first_unexplained(*trace) == "");
  CHECK(gradient_of(*trace, Id::key).products.size() == 1);
  CHECK(gradient_of(*trace, Id::value).products.size() == 1);
  CHECK((pairs_from_sources(*trace) == pairs_from_consumers(*trace)));
}

TEST_CASE("query and key that are one array, and not the value, keep a gradient each") {
  AttentionInputs inputs = random_inputs(small_options(), {2, 3, 3});
  inputs.tensors.key = inputs.tensors.query;
  const TracePtr trace = backward_trace(inputs);
  REQUIRE(trace->grad.key);
  CHECK(first_unexplained(*trace) == "");
  CHECK(gradient_of(*trace, Id::query).products.size() == 1);
  CHECK((pairs_from_sources(*trace) == pairs_from_consumers(*trace)));
}

TEST_CASE("a backend that did not keep what a gradient passes through cannot explain it, and says so") {
  Trace trace = *backward_trace(inputs_of_gradients());
  trace.tensors.scores = trace.grad.scores = nullptr;
  CHECK_THROWS_WITH_AS(cell_provenance(trace, {Id::q_heads, true}, {0, 0, 0, 0}),
                       doctest::Contains("no scores"), Error);
  CHECK(gradient_rules(trace).empty());
  // A gradient alone that was not kept is missed where a cell is made from it.
  Trace without_one = *backward_trace(inputs_of_gradients());
  without_one.grad.scores = nullptr;
  CHECK_THROWS_WITH_AS(cell_provenance(without_one, {Id::q_heads, true}, {0, 0, 0, 0}),
                       doctest::Contains("no grad.scores"), Error);
  CHECK(first_unexplained(without_one, gradient_of(without_one, Id::concat)) == "");
}

TEST_CASE("one value head of width 1, one head at all, and lengths of 1 are explained") {
  AttentionOptions narrow = small_options(4, 2, 1);
  for (const AttentionOptions& options :
       {narrow, small_options(1, 1, 1), small_options(1, 1, 3), small_options(6, 3, 1)}) {
    for (const Lengths lengths : {Lengths{1, 1, 1}, Lengths{2, 1, 3}, Lengths{1, 3, 1}}) {
      AttentionInputs inputs = random_inputs(options, lengths);
      inputs.options.head_gain.assign(static_cast<std::size_t>(options.num_heads), 0.5);
      inputs.tensors.bias_k = random_tensor({{"G·D", options.num_kv_heads * options.head_dim}}, "bias_k");
      inputs.tensors.bias_v = random_tensor({{"G·Dv", options.num_kv_heads * options.v_head_dim}}, "bias_v");
      CHECK(first_unexplained(*backward_trace(inputs)) == "");
    }
  }
}

TEST_CASE("a trace without batches, queries or keys has gradients, and they are explained") {
  for (const Lengths lengths : {Lengths{0, 2, 3}, Lengths{1, 0, 3}, Lengths{1, 2, 0}, Lengths{2, 0, 0}}) {
    AttentionInputs inputs = random_inputs(small_options(4, 2, 2), lengths);
    inputs.options.head_gain = {1, 2, 3, 4};
    const TracePtr trace = backward_trace(inputs);
    CHECK(first_unexplained(*trace) == "");
    CHECK((pairs_from_sources(*trace) == pairs_from_consumers(*trace)));
  }
}

TEST_CASE("float masks of every rank collect from everything that they were repeated for") {
  for (const Shape& shape :
       {Shape{}, Shape{{"1", 1}}, Shape{{"S", 4}}, Shape{{"L", 3}, {"1", 1}},
        Shape{{"H", 4}, {"1", 1}, {"S", 2}}, Shape{{"N", 2}, {"1", 1}, {"1", 1}, {"S", 4}}}) {
    CAPTURE(shape.to_string());
    AttentionInputs inputs;
    for (NamedInputs& named : single_option_inputs())
      if (named.name == "sdpa: plain") inputs = named.inputs;
    inputs.tensors.attn_mask = random_tensor(shape, "attn_mask");
    const TracePtr trace = backward_trace(inputs);
    REQUIRE(trace->grad.attn_mask);
    CHECK(first_unexplained(*trace) == "");
    CHECK((pairs_from_sources(*trace) == pairs_from_consumers(*trace)));
  }
}

TEST_CASE("a float mask of its own for every batch and head collects from its own scores") {
  AttentionInputs inputs = inputs_of_gradients();
  inputs.tensors.attn_mask = random_tensor({{"N·H", 8}, {"L", 3}, {"S", 4}}, "attn_mask");
  inputs.options.add_zero_attn = true;
  const TracePtr trace = backward_trace(inputs);
  CHECK(first_unexplained(*trace) == "");
  CHECK(cell_provenance(*trace, {Id::attn_mask, true}, {6, 1, 2}).formula ==
        "grad.attn_mask[6,1,2] = grad.mask_bias[1,2,1,2]");
  CHECK((pairs_from_sources(*trace) == pairs_from_consumers(*trace)));
}

TEST_CASE("non-finite numbers reach the gradients that they reach in the reference") {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    AttentionInputs inputs = random_inputs(small_options(2, 2, 2));
    Tensor value = *inputs.tensors.value;
    value.set_flat(0, bad);
    inputs.tensors.value = std::make_shared<const Tensor>(std::move(value));
    CHECK(first_unexplained(*backward_trace(inputs)) == "");
  }
}

TEST_CASE("a gradient rule with two axes swapped, a product forgotten or a sum too short is caught") {
  const TracePtr trace = backward_trace(inputs_of_gradients());
  int tried = 0;
  for (const Rule& right : gradient_rules(*trace)) {
    CAPTURE(to_string(right.result));
    for (std::size_t p = 0; p < right.products.size(); ++p) {
      CAPTURE(p);
      // The same number added to all keys changes no softmax: the bias of k has a gradient of 0, sum by sum.
      if (right.result.id == Id::in_proj_bias && p == 1) continue;
      for (std::size_t sum = 0; sum < right.products[p].sums.size(); ++sum, ++tried) {
        Rule wrong = right;
        --wrong.products[p].sums[sum].size;
        CHECK(is_caught(*trace, wrong));
      }
      for (std::size_t f = 0; f < right.products[p].factors.size(); ++f) {
        for (std::size_t axis = 1; axis < right.products[p].factors[f].axes.size(); ++axis, ++tried) {
          Rule wrong = right;
          auto& axes = wrong.products[p].factors[f].axes;
          std::swap(axes[axis - 1], axes[axis]);
          CHECK(is_caught(*trace, wrong));
        }
      }
      Rule wrong = right;
      wrong.products.erase(wrong.products.begin() + static_cast<std::ptrdiff_t>(p));
      CHECK(is_caught(*trace, wrong));
      ++tried;
    }
  }
  CHECK(tried > 100);
}

TEST_CASE("a gradient that leaves out the row's sum, or the mean of an add & norm, is caught") {
  AttentionInputs inputs = inputs_of_gradients();
  inputs.options.layer_norm = true;
  const TracePtr trace = backward_trace(inputs);
  Rule softmax = gradient_of(*trace, Id::masked_scores);
  REQUIRE(softmax.combine == Combine::softmax_gradient);
  softmax.products[0].sums[0].size = 1;
  CHECK(is_caught(*trace, softmax));
  Rule norm = gradient_of(*trace, Id::output);
  REQUIRE(norm.combine == Combine::norm_gradient);
  norm.products[0].factors[1].tensor = {Id::layer_norm_output};  // y in the place of x: another deviation
  CHECK(is_caught(*trace, norm));
}

TEST_CASE("sending a key head's gradient to the wrong query heads is caught") {
  const TracePtr trace = backward_trace(inputs_of_gradients());
  Rule wrong = gradient_of(*trace, Id::k_heads);
  for (Operand& factor : wrong.products[0].factors)
    factor.axes[1] = AxisMap{0, {{.variable = 4, .times = 2}, {.variable = 1}}};  // tiled, not repeated
  CHECK(is_caught(*trace, wrong));
}

TEST_CASE("gradients that a trace does not have are refused") {
  AttentionInputs inputs = inputs_of_gradients();
  CHECK_THROWS_WITH_AS(declared_rule(*reference_forward(inputs), {Id::scores, true}),
                       doctest::Contains("without a backward pass"), Error);
  const TracePtr trace = backward_trace(inputs);
  CHECK_THROWS_AS(cell_provenance(*trace, {Id::attn_output_weights, true}, {0, 0, 0}), Error);
  CHECK_THROWS_AS(cell_provenance(*trace, {Id::scores, true}, {0, 0, 0, 99}), Error);
  CHECK_THROWS_AS(cell_consumers(*trace, {Id::scores, true}, {0, 0, 0, -1}), Error);
}
