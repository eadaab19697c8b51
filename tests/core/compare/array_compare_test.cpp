#include "core/compare/array_compare.h"

#include <cmath>

#include "core/attention/heads.h"
#include "core/reference/reference_backend.h"
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
    for (Index l = 0; l < 3; ++l) {
      for (Index e = 0; e < 12; ++e) length_first.set_flat((l * 3 + n) * 12 + e, ours->at({n, l, e}));
    }
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
