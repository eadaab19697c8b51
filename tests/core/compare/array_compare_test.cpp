// Arrays of other programs: how they are read, and where they differ from a trace.
#include "core/compare/array_compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/heads.h"
#include "core/attention/reference_backend.h"
#include "core/compare/tensor_readings.h"
#include "core/compare/trace_compare.h"
#include "tests/checks.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

StoredTensor named(const std::string& name, const TensorPtr& tensor, const std::string& type = "f64") {
  return {name, tensor, type};
}

std::vector<StoredTensor> all_of(const Trace& trace) {
  std::vector<StoredTensor> arrays;
  for (const bool gradient : {true, false}) {
    for (const TensorEntry& entry : tensor_entries()) {
      const TensorName name{entry.id, gradient};
      if (trace.tensor(name)) arrays.push_back(named(to_string(name), trace.tensor(name)));
    }
  }
  return arrays;
}

ComparedArray compared(const Trace& trace, const StoredTensor& array, ArrayComparisonOptions options = {}) {
  const ArrayComparison comparison = compare_arrays(trace, {array}, options);
  REQUIRE(comparison.arrays.size() == 1);
  return comparison.arrays[0];
}

TensorPtr reshaped(const TensorPtr& tensor, const Shape& shape) {
  return std::make_shared<const Tensor>(tensor->reshaped(shape));
}

AttentionInputs masked_inputs(Op op = Op::multi_head_attention) {
  AttentionInputs inputs = random_inputs(small_options());
  inputs.options.op = op;
  auto mask = std::make_shared<Tensor>(Shape{{"L", 4}, {"S", 6}}, DType::boolean);
  for (Index i = 0; i < mask->size(); i += 3) mask->set_flat(i, 1);
  inputs.tensors.attn_mask = mask;
  return inputs;
}

// What a program that keeps `ours` in another order has in memory.
TensorPtr stored_in(const Tensor& ours, const AxisOrder& order) {
  std::vector<Axis> axes;
  for (const Index size : order_sizes(ours.shape(), order)) axes.push_back({"axis", size});
  Tensor stored(Shape(std::move(axes)), ours.dtype());
  // Read back, every number has to be where it was: the inverse is found cell by cell.
  Tensor places(stored.shape(), DType::f64);
  for (Index i = 0; i < places.size(); ++i) places.set_flat(i, static_cast<double>(i));
  const Tensor place = in_our_order(places, ours.shape(), order);
  for (Index i = 0; i < ours.size(); ++i) stored.set_flat(static_cast<Index>(place.flat(i)), ours.flat(i));
  return std::make_shared<const Tensor>(std::move(stored));
}

const Shape heads_shape{{"N", 2}, {"H", 4}, {"L", 5}, {"D", 3}};
const Shape sequence_shape{{"N", 2}, {"L", 5}, {"E", 12}};

void check_read_as(TensorName name, const Shape& shape, const AxisOrder& order, const std::string& text,
                   bool batch_first = true) {
  CAPTURE(text);
  const TensorPtr ours = random_tensor(shape, "ours");
  const auto readings = tensor_readings(name, shape, stored_in(*ours, order), batch_first);
  REQUIRE(readings.size() >= 1);
  const auto found = std::ranges::find(readings, text, &TensorReading::reading);
  REQUIRE(found != readings.end());
  CHECK(identical(*found->tensor, *ours));
}

Tensor row(std::vector<double> values) {
  const auto size = static_cast<Index>(values.size());
  return Tensor(Shape{{"S", size}}, std::move(values));
}

TensorDifference compare(const Tensor& ours, const Tensor& theirs, double tolerance = 1e-6) {
  return compare_tensors({Id::scores}, ours, theirs, tolerance);
}

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("every tensor and gradient of a trace agrees with itself, in the order of computation") {
  const TracePtr trace = reference_backward(*reference_forward(masked_inputs()));
  ArrayComparisonOptions exact;
  exact.tolerance = 0.0;
  const ArrayComparison comparison = compare_arrays(*trace, all_of(*trace), exact);
  CHECK(comparison.first_difference() == nullptr);
  CHECK(comparison.skipped.empty());
  REQUIRE(comparison.arrays.size() > 30);
  CHECK(comparison.arrays.front().tensor == TensorName{Id::query});
  CHECK(comparison.arrays.back().tensor == TensorName{Id::query, true});
}

TEST_CASE("attn_output is the output, or the heads' output where only that fits") {
  const TracePtr trace = reference_forward(random_inputs(small_options()));
  CHECK(compared(*trace, named("attn_output", trace->tensors.output)).tensor == TensorName{Id::output});
  const ComparedArray inner = compared(
      *trace, named("attn_output", reshaped(trace->tensors.head_output, {{"NH", 8}, {"L", 4}, {"D", 3}})));
  CHECK(inner.tensor == TensorName{Id::head_output});
  CHECK(inner.agrees());
  CHECK(inner.reading == "read as (N·H,L,Dv)");
}

TEST_CASE("the weights of each head may come as attn_output_weights, folded or not") {
  const TracePtr trace = reference_forward(random_inputs(small_options()));
  const ComparedArray heads = compared(*trace, named("attn_output_weights", trace->tensors.dropped_weights));
  CHECK(heads.tensor == TensorName{Id::dropped_weights});
  CHECK(heads.agrees());
  CHECK(compared(*trace, named("attn_output_weights", trace->tensors.attn_output_weights)).tensor ==
        TensorName{Id::attn_output_weights});
}

TEST_CASE("gradients are known as grad.NAME and as NAME.grad") {
  const TensorName gradient{Id::out_proj_weight, true};
  CHECK(stored_tensor_name("grad.out_proj.weight", Op::multi_head_attention) == gradient);
  CHECK(stored_tensor_name("out_proj.weight.grad", Op::multi_head_attention) == gradient);
  CHECK(stored_tensor_name("grad.query", Op::scaled_dot_product_attention) == TensorName{Id::q_heads, true});
  CHECK_FALSE(stored_tensor_name("grad.query.grad", Op::multi_head_attention));
  CHECK_FALSE(stored_tensor_name(".grad", Op::multi_head_attention));
}

TEST_CASE("a name that nobody knows is skipped with the nearest one") {
  const TracePtr trace = reference_forward(random_inputs(small_options()));
  const ArrayComparison comparison =
      compare_arrays(*trace,
                     {named("atn_weights", trace->tensors.scores), named("mask_bias", trace->tensors.scores),
                      named("grad.scores", trace->tensors.scores)},
                     {});
  CHECK(comparison.arrays.empty());
  REQUIRE(comparison.skipped.size() == 3);
  CHECK(comparison.skipped[0].reason == "there is no tensor of that name; the nearest is attn_weights");
  CHECK(comparison.skipped[1].reason == "this scenario has no mask");
  CHECK(comparison.skipped[2].reason == "gradients were not computed: add --backward");
}

TEST_CASE("a shape that would fit transposed is refused, with the order that it would fit in") {
  const TracePtr trace = reference_forward(random_inputs(small_options()));
  const ComparedArray array =
      compared(*trace, named("scores", random_tensor({{"N", 2}, {"H", 4}, {"S", 6}, {"L", 4}}, "t")));
  CHECK_FALSE(array.agrees());
  CHECK_CONTAINS(array.refusal,
                 "ours (N,H,L,S) = (2,4,4,6), theirs (2,4,6,4); it would fit as (N,H,S,L): transposed?");
  CHECK(array.ours == nullptr);
  const ComparedArray output =
      compared(*trace, named("output", random_tensor({{"L", 4}, {"N", 2}, {"E", 12}}, "t")));
  CHECK(output.refusal.empty());
  CHECK(output.reading == "read as (L,N,E), as with batch_first=False");
}

TEST_CASE("where N = L the numbers decide between (N,L,E) and (L,N,E)") {
  const TracePtr trace = reference_forward(random_inputs(small_options(), {3, 3, 5}));
  const TensorPtr ours = trace->tensors.output;
  Tensor length_first(ours->shape(), DType::f64);
  for (Index n = 0; n < 3; ++n) {
    for (Index l = 0; l < 3; ++l)
      for (Index e = 0; e < 12; ++e) length_first.set_flat((l * 3 + n) * 12 + e, ours->at({n, l, e}));
  }
  const TensorPtr stored = std::make_shared<const Tensor>(std::move(length_first));
  ArrayComparisonOptions options;
  options.batch_first = false;
  CHECK(compared(*trace, named("output", stored), options).reading == "read as (L,N,E)");
  CHECK(compared(*trace, named("output", stored), options).agrees());
  CHECK(compared(*trace, named("output", ours), options).reading.empty());
  CHECK_FALSE(compared(*trace, named("output", stored)).agrees());
}

TEST_CASE("a mask agrees as True and False and as what it adds, in the sense of the operator") {
  const TracePtr mha = reference_forward(masked_inputs());
  const Tensor& flags = *mha->tensors.attn_mask;
  Tensor bias(flags.shape(), DType::f64);
  for (Index i = 0; i < bias.size(); ++i) bias.set_flat(i, flags.flat(i) != 0 ? minus_infinity : 0.0);
  CHECK(compared(*mha, named("attn_mask", std::make_shared<const Tensor>(bias))).agrees());
  Tensor numbers = flags.converted(DType::f64);
  CHECK(compared(*mha, named("attn_mask", std::make_shared<const Tensor>(numbers))).agrees());
  numbers.set_flat(1, 1.0);
  CHECK_FALSE(compared(*mha, named("attn_mask", std::make_shared<const Tensor>(numbers))).agrees());

  Tensor merged(mha->tensors.mask_bias->shape(), DType::boolean);
  for (Index i = 0; i < merged.size(); ++i) merged.set_flat(i, flags.flat(i % flags.size()));
  const ComparedArray array =
      compared(*mha, named("mask_bias", std::make_shared<const Tensor>(merged), "bool"));
  CHECK(array.agrees());
  CHECK(array.reading == "True read as -inf");
}

TEST_CASE("True and False where numbers belong are refused") {
  const TracePtr trace = reference_forward(random_inputs(small_options()));
  const auto flags = std::make_shared<const Tensor>(trace->tensors.output->shape(), DType::boolean);
  CHECK_CONTAINS(compared(*trace, named("output", flags, "bool")).refusal, "True and False");
}

TEST_CASE("key/value heads that theirs repeats are compared as repeated") {
  const TracePtr trace = reference_forward(random_inputs(small_options(4, 2)));
  const auto repeated = std::make_shared<const Tensor>(repeat_kv(*trace->tensors.k_heads, 4));
  const ComparedArray array = compared(*trace, named("k_heads", repeated));
  CHECK(array.agrees());
  CHECK(array.reading == "each key/value head repeated for its 2 query heads");
  CHECK(compared(*trace, named("k_heads", trace->tensors.k_heads)).reading.empty());
}

TEST_CASE("the tolerance follows the weaker type unless it is given") {
  CHECK(stored_tolerance(DType::f64, "f64") == 1e-10);
  CHECK(stored_tolerance(DType::f32, "f64") == 1e-5);
  CHECK(stored_tolerance(DType::f64, "f32") == 1e-5);
  CHECK(stored_tolerance(DType::f64, "f16") == 2e-3);
  CHECK(stored_tolerance(DType::f32, "bf16") == 1.6e-2);
  CHECK(stored_tolerance(DType::f64, "bool") == 1e-10);
  CHECK(stored_tolerance(DType::f64, "f64", true) == 1e-9);
  const TracePtr trace = reference_forward(random_inputs(small_options()));
  ArrayComparisonOptions options;
  options.tolerance = 0.25;
  CHECK(compared(*trace, named("output", trace->tensors.output, "f16"), options).tolerance == 0.25);
}

TEST_CASE("what cancels in a gradient is judged by what the backward pass began with") {
  const TracePtr trace = reference_backward(*reference_forward(random_inputs(small_options())));
  Tensor noise = *trace->grad.out_proj_bias;
  CHECK(gradient_unit(*trace, {Id::query, true}) == doctest::Approx(0.1));
  CHECK(gradient_unit(*trace, {Id::query}) == 0.0);
  Trace cancelled = *trace;
  for (Index i = 0; i < noise.size(); ++i) noise.set_flat(i, 1e-17 * static_cast<double>(i));
  cancelled.grad.bias_k = std::make_shared<const Tensor>(noise);
  const auto none = std::make_shared<const Tensor>(noise.shape(), DType::f64);
  CHECK(compared(cancelled, named("bias_k.grad", none)).agrees());
}

TEST_CASE(
    "a program in f32 may differ in more than 1e-5 where scores are large, and in no more where they are "
    "small") {
  for (const double size : {0.1, 40.0}) {
    AttentionInputs inputs = random_inputs(small_options(2, 2, 8), {1, 9, 9}, DType::f32);
    const auto larger = [&](const TensorPtr& x) {
      Tensor result = *x;
      for (Index i = 0; i < result.size(); ++i) result.set_flat(i, size * result.flat(i));
      return std::make_shared<const Tensor>(std::move(result));
    };
    inputs.tensors.query = larger(inputs.tensors.query);
    const TracePtr ours = reference_forward(inputs);
    const double factor = large_score_factor(*ours, {TensorId::scores});
    CHECK((size == 0.1) == (factor == 1.0));
    CHECK(large_score_factor(*ours, {TensorId::q_heads}) == 1.0);
    CHECK(large_score_factor(*ours, {TensorId::scores, true}) == 1.0);
    // The same sums in float, one product after the other.
    const Tensor &q = *ours->tensors.q_heads, &k = *ours->tensors.k_heads;
    Tensor theirs(ours->tensors.scores->shape(), DType::f32);
    for (Index i = 0; i < theirs.size(); ++i) {
      const auto at = theirs.shape().index_of(i);
      float sum = 0;
      for (Index d = 0; d < 8; ++d)
        sum += static_cast<float>(q.at({at[0], at[1], at[2], d})) *
               static_cast<float>(k.at({at[0], at[1], at[3], d}));
      theirs.set_flat(i, static_cast<double>(sum));
    }
    const auto agrees_after = [&](double change) {
      Tensor changed = theirs;
      changed.set_flat(0, changed.flat(0) + change);
      const StoredTensor stored{"scores", std::make_shared<const Tensor>(changed), "f32"};
      return compare_arrays(*ours, {stored}, {}).first_difference() == nullptr;
    };
    CHECK(agrees_after(0.0));
    CHECK_FALSE(agrees_after(1e-3 * factor));
  }
}

TEST_CASE("an order of the axes puts each number where an independent index says") {
  const TensorPtr ours = random_tensor(heads_shape, "ours");
  const TensorPtr stored = stored_in(*ours, {{{2}, {0, 1}, {3}}});  // (L,N·H,D)
  CHECK(stored->shape().sizes() == std::vector<Index>{5, 8, 3});
  CHECK(stored->at({3, 1 * 4 + 2, 1}) == ours->at({1, 2, 3, 1}));
  CHECK(order_text(heads_shape, {{{2}, {0, 1}, {3}}}) == "(L,N·H,D)");
}

TEST_CASE("an array in the trace's own sizes is taken as it is, even where another order would fit") {
  const Shape square{{"N", 2}, {"H", 4}, {"L", 4}, {"D", 4}};
  const TensorPtr stored = random_tensor(square, "stored");
  const auto readings = tensor_readings({Id::q_heads}, square, stored, true);
  REQUIRE(readings.size() == 1);
  CHECK(readings[0].reading.empty());
  CHECK(identical(*readings[0].tensor, *stored));
}

TEST_CASE("heads folded into the batch, after the length or side by side are told by their sizes") {
  check_read_as({Id::q_heads}, heads_shape, {{{0, 1}, {2}, {3}}}, "(N·H,L,D)");
  check_read_as({Id::q_heads}, heads_shape, {{{0}, {2}, {1}, {3}}}, "(N,L,H,D)");
  check_read_as({Id::q_heads}, heads_shape, {{{2}, {0, 1}, {3}}}, "(L,N·H,D)");
  check_read_as({Id::q_heads}, heads_shape, {{{0}, {2}, {1, 3}}}, "(N,L,H·D)");
  check_read_as({Id::head_output, true}, heads_shape, {{{2}, {0}, {1}, {3}}}, "(L,N,H,D)");
  check_read_as({Id::k_heads}, heads_shape, {{{0}, {1}, {3}, {2}}}, "(N,H,D,L)");
  check_read_as({Id::scores}, heads_shape, {{{0, 1}, {2}, {3}}}, "(N·H,L,D)");
  check_read_as({Id::static_k}, heads_shape, {{{0, 1}, {2}, {3}}}, "(N·H,L,D)");
}

TEST_CASE("scores are never transposed to make them fit") {
  const TensorPtr ours = random_tensor(heads_shape, "ours");
  const TensorPtr transposed = stored_in(*ours, {{{0}, {1}, {3}, {2}}});
  CHECK(tensor_readings({Id::scores}, heads_shape, transposed, true).empty());
  const auto orders = transposed_orders(heads_shape, transposed->shape().sizes());
  REQUIRE(orders.size() == 1);
  CHECK(order_text(heads_shape, orders[0]) == "(N,H,D,L)");
}

TEST_CASE(
    "outputs are read as (L,N,E), with a remark where batch_first is true, as is what PyTorch keeps inside") {
  const AxisOrder length_first{{{1}, {0}, {2}}};
  check_read_as({Id::output}, sequence_shape, length_first, "(L,N,E)", false);
  check_read_as({Id::query, true}, sequence_shape, length_first, "(L,N,E)", false);
  check_read_as({Id::q}, sequence_shape, length_first, "(L,N,E)", true);
  check_read_as({Id::output}, sequence_shape, length_first, "(L,N,E), as with batch_first=False", true);
  check_read_as({Id::concat}, sequence_shape, {{{1, 0}, {2}}}, "(L·N,E)", true);
}

TEST_CASE("where N = L and batch_first is false both layouts are offered, the trace's first") {
  const Shape square{{"N", 3}, {"L", 3}, {"E", 4}};
  const auto readings = tensor_readings({Id::output}, square, random_tensor(square, "stored"), false);
  REQUIRE(readings.size() == 2);
  CHECK(readings[0].reading.empty());
  CHECK(readings[1].reading == "(L,N,E)");
}

TEST_CASE("axes of size 1 come and go: unbatched arrays, bias_k as (1,1,E)") {
  const Shape one{{"N", 1}, {"L", 5}, {"E", 12}};
  const TensorPtr unbatched = random_tensor({{"a", 5}, {"b", 12}}, "stored");
  auto readings = tensor_readings({Id::output}, one, unbatched, true);
  REQUIRE(readings.size() == 1);
  CHECK(readings[0].tensor->shape() == one);
  CHECK(readings[0].reading == "(L,E)");
  readings =
      tensor_readings({Id::bias_k}, {{"G·D", 12}}, random_tensor({{"a", 1}, {"b", 1}, {"c", 12}}, "b"), true);
  REQUIRE(readings.size() == 1);
  CHECK(readings[0].reading == "(1,1,G·D)");
}

TEST_CASE("heads in groups of five axes and a mask with its heads apart are the same numbers") {
  const TensorPtr grouped = random_tensor({{"N", 2}, {"G", 2}, {"R", 2}, {"L", 5}, {"D", 3}}, "grouped");
  CHECK(tensor_readings({Id::scores}, heads_shape, grouped, true).size() == 1);
  const TensorPtr swapped = random_tensor({{"N", 2}, {"G", 3}, {"R", 2}, {"L", 5}, {"D", 3}}, "swapped");
  CHECK(tensor_readings({Id::scores}, heads_shape, swapped, true).empty());
  const TensorPtr apart = random_tensor({{"N", 2}, {"H", 4}, {"L", 5}, {"S", 3}}, "mask");
  CHECK(tensor_readings({Id::attn_mask}, {{"N·H", 8}, {"L", 5}, {"S", 3}}, apart, true).size() == 1);
}

TEST_CASE("an array of no size at all is read, and one of other numbers of cells is not") {
  const Shape empty{{"N", 2}, {"L", 0}, {"E", 12}};
  CHECK(tensor_readings({Id::output}, empty, random_tensor(empty, "none"), true).size() == 1);
  CHECK(tensor_readings({Id::output}, empty, random_tensor({{"L", 0}, {"N", 2}, {"E", 12}}, "none"), false)
            .size() == 1);
  CHECK(tensor_readings({Id::output}, sequence_shape, random_tensor({{"E", 12}}, "few"), true).empty());
}

TEST_CASE("another shape is a difference, another name of an axis or type is none") {
  const Tensor ours(Shape{{"L", 2}, {"S", 1}}, std::vector<double>{1, 2});
  CHECK_FALSE(compare(ours, row({1, 2})).agrees());
  CHECK(difference_text(compare(ours, row({1, 2}))) == "scores: the shapes differ: ours (2,1), theirs (2)");
  CHECK(compare(ours, Tensor(Shape{{"a", 2}, {"b", 1}}, std::vector<float>{1, 2})).agrees());
}

TEST_CASE("NaN agrees with NaN and an infinity with itself, and with nothing else") {
  CHECK(compare(row({not_a_number, infinite, -infinite}), row({not_a_number, infinite, -infinite})).agrees());
  for (const auto& [a, b] : {std::pair{not_a_number, 1.0},
                             {1.0, not_a_number},
                             {infinite, -infinite},
                             {infinite, 1e300},
                             {not_a_number, infinite}}) {
    const TensorDifference difference = compare(row({0, a}), row({0, b}), 1e30);
    CHECK(difference.non_finite_mismatches == 1);
    CHECK_FALSE(difference.agrees());
    CHECK(difference.worst == std::vector<Index>{1});
    CHECK(difference.largest_absolute == infinite);
  }
}

TEST_CASE("a number near 0 is judged by its neighbours, small tensors by their own size") {
  CHECK(compare(row({1e-12, 1.0}), row({2e-12, 1.0})).agrees());
  CHECK_FALSE(compare(row({1e-12, 3e-12}), row({2e-12, 3e-12})).agrees());
  CHECK(compare(row({1e9 + 1, 1.0}), row({1e9, 1.0})).agrees());
}

TEST_CASE("a huge fill beside them does not hide a difference between ordinary numbers") {
  CHECK_FALSE(compare(row({-1e9, 1.0}), row({-1e9, 1.001})).agrees());
}

TEST_CASE("the tolerance is the boundary: a hair inside agrees, a hair outside differs") {
  CHECK(compare(row({1.0}), row({1.0 - 0.9e-6})).agrees());
  CHECK_FALSE(compare(row({1.0}), row({1.0 - 1.1e-6})).agrees());
}

TEST_CASE("empty tensors agree") {
  CHECK(compare(row({}), row({})).agrees());
  CHECK(difference_text(compare(row({}), row({}))) == "scores: all 0 cells are equal");
}

TEST_CASE("a difference reads as one line") {
  CHECK(
      difference_text(compare(row({1.0, 1.5}), row({1.0, 1.25}))) ==
      "scores: 1 of 2 cells differ, the most at [1]: ours 1.5, theirs 1.25 (absolute 0.25, relative 0.167)");
  CHECK(difference_text(compare(row({1.0, 2.0}), row({1.0, 2.0}))) == "scores: all 2 cells are equal");
}
