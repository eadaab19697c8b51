#include "core/lessons/head_width_comparison.h"

#include <algorithm>
#include <cmath>

#include "core/attention/attention_sizes.h"
#include "core/attention/reference_backend.h"
#include "tests/checks.h"
#include "tests/core/attention/first_difference.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using test::first_difference;

namespace {

HeadWidthComparison compared(const AttentionInputs& inputs) {
  return compare_head_width(*reference_forward(inputs));
}

const TensorDistance& gradient(const HeadWidthComparison& c, TensorId id) {
  const auto found = std::ranges::find(c.gradients, id, &TensorDistance::tensor);
  REQUIRE(found != c.gradients.end());
  return *found;
}

// One head over the whole width, in plain loops from q, k and v: softmax(q·k/√E)·v, then W_O.
Tensor plain_wide_output(const Trace& trace) {
  const TraceTensors& t = trace.tensors;
  const Index N = t.q->shape().size(0), L = t.q->shape().size(1), E = t.q->shape().size(2),
              S = t.k->shape().size(1);
  Tensor output(t.output->shape(), DType::f64);
  for (Index n = 0; n < N; ++n) {
    for (Index l = 0; l < L; ++l) {
      std::vector<double> weights, mixed(static_cast<std::size_t>(E), 0.0);
      double sum = 0.0;
      for (Index s = 0; s < S; ++s) {
        double score = 0.0;
        for (Index e = 0; e < E; ++e) score += t.q->at({n, l, e}) * t.k->at({n, s, e});
        sum += weights.emplace_back(std::exp(score / std::sqrt(static_cast<double>(E))));
      }
      for (Index s = 0; s < S; ++s) {
        for (Index e = 0; e < E; ++e)
          mixed[static_cast<std::size_t>(e)] += weights[static_cast<std::size_t>(s)] / sum * t.v->at({n, s, e});
      }
      for (Index e = 0; e < E; ++e) {
        double cell = t.out_proj_bias->at({e});
        for (Index f = 0; f < E; ++f)
          cell += mixed[static_cast<std::size_t>(f)] * t.out_proj_weight->at({e, f});
        output.set_flat((n * L + l) * E + e, cell);
      }
    }
  }
  return output;
}

AttentionInputs sdpa_inputs(Index heads, Index groups) {
  AttentionInputs inputs;
  inputs.options.op = Op::scaled_dot_product_attention;
  inputs.dtype = DType::f64;
  inputs.tensors.query = test::random_tensor({{"N", 2}, {"H", heads}, {"L", 3}, {"D", 2}}, "query");
  inputs.tensors.key = test::random_tensor({{"N", 2}, {"G", groups}, {"S", 5}, {"D", 2}}, "key");
  inputs.tensors.value = test::random_tensor({{"N", 2}, {"G", groups}, {"S", 5}, {"Dv", 3}}, "value");
  return inputs;
}

double loss_of(const AttentionInputs& inputs) {
  const TracePtr trace = reference_forward(inputs);
  double loss = 0.0;
  for (const double cell : trace->tensors.output->values<double>()) loss += cell;
  return loss;
}

}  // namespace

TEST_CASE("one wide head computes what plain loops over the whole width do") {
  const AttentionInputs inputs = test::random_inputs(test::small_options());
  const HeadWidthComparison c = compared(inputs);
  const Tensor expected = plain_wide_output(*c.many.trace);
  CHECK(first_difference("output", *c.wide.trace->tensors.output, expected, 1e-13) == std::nullopt);
  double largest = 0.0;
  for (Index i = 0; i < expected.size(); ++i)
    largest = std::max(largest, std::abs(expected.flat(i) - c.many.trace->tensors.output->flat(i)));
  CHECK(c.output.difference == doctest::Approx(largest));
  CHECK(largest > 1e-2);
}

TEST_CASE(
    "eight heads and one wide head have the same parameters and products, and H times fewer exponentials") {
  const HeadWidthComparison c = compared(test::random_inputs(test::small_options(8, 8, 4)));
  CHECK(!c.coincide);
  CHECK(c.many.parameters == c.wide.parameters);
  CHECK(c.many.counts.multiply_adds == c.wide.counts.multiply_adds);
  CHECK(c.many.counts.exponentials == 8 * c.wide.counts.exponentials);
  CHECK(c.wide.head_dim == 32);
  CHECK(c.many.scale == doctest::Approx(0.5));
  CHECK(c.wide.scale == doctest::Approx(1.0 / std::sqrt(32.0)));
  REQUIRE(c.map_differences.size() == 8);
  for (const double difference : c.map_differences) CHECK(difference > 1e-3);
  for (const TensorId id : {TensorId::query, TensorId::in_proj_weight, TensorId::out_proj_weight})
    CHECK(gradient(c, id).difference > 1e-3 * gradient(c, id).magnitude);
  CHECK(gradient(c, TensorId::out_proj_bias).difference == 0.0);  // N·L ones, whatever the heads do
  CHECK(c.sentences.front().starts_with("No: 8 heads of 4 and one head of 32"));
}

TEST_CASE(
    "the scores of the wide head are the sum of the heads' scores, with every option that lets them be "
    "compared") {
  for (const test::NamedInputs& named : test::single_option_inputs()) {
    CAPTURE(named.name);
    const HeadWidthComparison c = compared(named.inputs);
    CHECK(!c.sentences.empty());
    if (!c.possible()) continue;
    CHECK(c.score_sum_difference < 1e-12);
    CHECK(c.many.counts.exponentials == named.inputs.options.num_heads * c.wide.counts.exponentials);
  }
}

TEST_CASE(
    "heads and one wide head coincide where there is one head, one key, or nothing to tell keys apart") {
  const auto sentence = [](const AttentionInputs& inputs) {
    const HeadWidthComparison c = compared(inputs);
    CHECK(c.coincide);
    for (const TensorDistance& distance : c.gradients)
      CHECK(distance.difference <= 1e-9 * std::max(1.0, distance.magnitude));
    return c.sentences.front();
  };
  CHECK_CONTAINS(sentence(test::random_inputs(test::small_options(1, 1, 12))), "only one head");
  CHECK_CONTAINS(sentence(test::random_inputs(test::small_options(), {2, 4, 1})), "a single key");
  CHECK_CONTAINS(sentence(test::random_inputs(test::small_options(), {2, 4, 0})), "no key");
}

TEST_CASE("with a scale of 0 every head averages as the wide one does, and the outputs are equal") {
  AttentionInputs inputs = test::random_inputs(test::small_options());
  inputs.options.scale = 0.0;
  const HeadWidthComparison c = compared(inputs);
  CHECK(c.coincide);
  CHECK_CONTAINS(c.sentences.front(), "every head has the same attention weights as the wide head");
  CHECK(*std::ranges::max_element(c.map_differences) < 1e-15);
}

TEST_CASE("equal heads coincide with the wide head where its scale is divided by their number") {
  // Both heads read the same rows: the wide head's scores are twice theirs.
  AttentionInputs inputs = test::random_inputs(test::small_options(2, 2, 3));
  Tensor weight = *inputs.tensors.in_proj_weight;
  Tensor bias = *inputs.tensors.in_proj_bias;
  for (const Index first : {0, 6}) {
    for (Index row = 0; row < 3; ++row) {
      bias.set_flat(first + 3 + row, bias.flat(first + row));
      for (Index e = 0; e < 6; ++e) weight.set_flat((first + 3 + row) * 6 + e, weight.at({first + row, e}));
    }
  }
  inputs.tensors.in_proj_weight = std::make_shared<const Tensor>(std::move(weight));
  inputs.tensors.in_proj_bias = std::make_shared<const Tensor>(std::move(bias));
  const HeadWidthComparison c = compared(inputs);
  CHECK(!c.coincide);
  AttentionInputs wide = one_wide_head(inputs).inputs;
  wide.options.scale = 0.5 / std::sqrt(3.0);
  CHECK(first_difference("output", *reference_forward(wide)->tensors.output, *c.many.trace->tensors.output,
                         1e-13) == std::nullopt);
}

TEST_CASE("a mask of its own for each head is compared only where all heads have the same") {
  AttentionInputs inputs = test::random_inputs(test::small_options(), {2, 4, 6});
  Tensor mask(Shape{{"N·H", 8}, {"L", 4}, {"S", 6}}, DType::boolean);
  for (Index h = 0; h < 8; ++h)
    mask.set_flat(h * 24 + (h < 4 ? 5 : 7), 1.0);  // per batch, the same for all heads
  inputs.tensors.attn_mask = std::make_shared<const Tensor>(mask);
  const HeadWidthComparison same = compared(inputs);
  REQUIRE(same.possible());
  CHECK(same.wide.trace->tensors.attn_weights->at({0, 0, 0, 5}) == 0.0);
  CHECK(same.wide.trace->tensors.attn_weights->at({1, 0, 1, 1}) == 0.0);
  mask.set_flat(2, 1.0);
  inputs.tensors.attn_mask = std::make_shared<const Tensor>(mask);
  const HeadWidthComparison other = compared(inputs);
  CHECK_CONTAINS(other.impossible_reason, "cannot have 4 masks");
  CHECK(other.wide.trace == nullptr);
}

TEST_CASE(
    "grouped key/value heads are repeated for the wide head, and their gradients summed over the copies") {
  AttentionOptions o = test::small_options(4, 2, 2);
  o.v_head_dim = 3;
  AttentionInputs inputs = test::random_inputs(o, {1, 3, 4});
  inputs.tensors.bias_k = test::random_tensor({{"G·D", 4}}, "bias_k");
  inputs.tensors.bias_v = test::random_tensor({{"G·Dv", 6}}, "bias_v");
  const HeadWidthComparison c = compared(inputs);
  REQUIRE(c.possible());
  CHECK_CONTAINS(c.notes.front(), "2 key/value heads serve 4 query heads");
  CHECK(c.wide.parameters > c.many.parameters);

  // d loss / d(each number), of the wide head as a function of the grouped parameters.
  const TracePtr wide = c.wide.trace;
  for (const TensorId id :
       {TensorId::in_proj_weight, TensorId::in_proj_bias, TensorId::bias_k, TensorId::bias_v}) {
    const auto member = tensor_entry(id).member;
    const TensorPtr gradient = gradient_of_many(id, wide->tensor(TensorName{id, true}), inputs);
    REQUIRE(gradient->shape().same_sizes((inputs.tensors.*member)->shape()));
    for (Index i = 0; i < gradient->size(); i += 3) {
      const auto loss_at = [&](double step) {
        AttentionInputs moved = inputs;
        Tensor tensor = *(inputs.tensors.*member);
        tensor.set_flat(i, tensor.flat(i) + step);
        moved.tensors.*member = std::make_shared<const Tensor>(std::move(tensor));
        return loss_of(one_wide_head(moved).inputs);
      };
      CHECK(gradient->flat(i) == doctest::Approx((loss_at(1e-5) - loss_at(-1e-5)) / 2e-5).epsilon(1e-6));
    }
  }
}

TEST_CASE("scaled_dot_product_attention alone is compared too, its heads side by side") {
  for (const Index groups : {4, 2, 1}) {
    const AttentionInputs inputs = sdpa_inputs(4, groups);
    const HeadWidthComparison c = compared(inputs);
    REQUIRE(c.possible());
    CHECK(!c.coincide);
    CHECK(c.wide.head_dim == 8);
    CHECK(c.wide.v_head_dim == 12);
    CHECK(c.wide.trace->tensors.output->shape().sizes() == std::vector<Index>{2, 1, 3, 12});
    CHECK(c.score_sum_difference < 1e-13);
    CHECK(c.gradients.size() == 3);
    const TensorPtr folded =
        gradient_of_many(TensorId::key, c.wide.trace->tensor(TensorName{TensorId::k_heads, true}), inputs);
    const auto loss_at = [&](double step) {
      AttentionInputs moved = inputs;
      Tensor key = *inputs.tensors.key;
      key.set_flat(7, key.flat(7) + step);
      moved.tensors.key = std::make_shared<const Tensor>(std::move(key));
      return loss_of(one_wide_head(moved).inputs);
    };
    CHECK(folded->flat(7) == doctest::Approx((loss_at(1e-5) - loss_at(-1e-5)) / 2e-5).epsilon(1e-6));
  }
}

TEST_CASE("what acts on each head apart or behind the operator is left out of both sides, and told") {
  AttentionInputs inputs = test::random_inputs(test::small_options());
  const double plain = compared(inputs).output.difference;
  inputs.options.dropout = 0.5;
  inputs.options.head_gain = {1.0, 0.0, 1.0, 2.0};
  inputs.options.layer_norm = true;
  const HeadWidthComparison c = compared(inputs);
  CHECK(c.output.difference == doctest::Approx(plain));
  CHECK(c.left_out == std::vector<std::string>{"dropout", "the head gains", "the layer norm"});
  CHECK(c.sentences.back() == "Both without dropout, the head gains, the layer norm.");
}

TEST_CASE("NaN on both sides is no difference, empty inputs have none") {
  AttentionInputs inputs = test::random_inputs(test::small_options());
  inputs.tensors.valid_lens = std::make_shared<const Tensor>(Shape{{"N", 2}}, std::vector<std::int64_t>{0, 6});
  CHECK(std::isfinite(compared(inputs).output.difference));
  for (const test::Lengths lengths : {test::Lengths{0, 4, 6}, test::Lengths{2, 0, 6}}) {
    const HeadWidthComparison c = compared(test::random_inputs(test::small_options(), lengths));
    CHECK(c.output.difference == 0.0);
    CHECK(c.coincide);
  }
}
