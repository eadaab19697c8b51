// What one query looks up: softly and in the limit, and its row of scores and weights computed anew.
#include "core/lessons/lookup_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/heads.h"
#include "core/attention/reference_backend.h"
#include "core/lessons/query_row.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;

namespace {

AttentionInputs grouped() {
  AttentionOptions o = test::small_options(4, 2, 3);
  o.v_head_dim = 5;
  return test::random_inputs(o);
}

// scaled_dot_product_attention whose scores are the given ones: one query (1), keys as wide as a score,
// scale 1.
TracePtr trace_of_scores(const std::vector<double>& scores) {
  AttentionInputs inputs;
  inputs.options.op = Op::scaled_dot_product_attention;
  inputs.options.scale = 1.0;
  inputs.dtype = DType::f64;
  const auto keys = static_cast<Index>(scores.size());
  inputs.tensors.query =
      std::make_shared<const Tensor>(Shape{{"N", 1}, {"H", 1}, {"L", 1}, {"D", 1}}, std::vector<double>{1.0});
  inputs.tensors.key = std::make_shared<const Tensor>(Shape{{"N", 1}, {"G", 1}, {"S", keys}, {"D", 1}}, scores);
  inputs.tensors.value = test::random_tensor({{"N", 1}, {"G", 1}, {"S", keys}, {"Dv", 3}}, "value");
  return reference_forward(inputs);
}

void check_rows(const test::NamedInputs& named) {
  CAPTURE(named.name);
  const TracePtr trace = reference_forward(named.inputs);
  const TensorPtr &scores = trace->tensors.scores, &weights = trace->tensors.attn_weights;
  if (!scores || !weights || scores->size() == 0) return;
  const Shape& shape = scores->shape();
  for (Index h = 0; h < shape.size(1); ++h) {
    for (Index l = 0; l < shape.size(2); ++l) {
      const Index n = shape.size(0) - 1;
      const QueryRow row = query_row_with(*trace, n, h, l, query_vector(*trace, n, h, l));
      REQUIRE(static_cast<Index>(row.weights.size()) == shape.size(3));
      for (Index s = 0; s < shape.size(3); ++s) {
        const double score = scores->at({n, h, l, s}), weight = weights->at({n, h, l, s});
        const double own_score = row.scores[static_cast<std::size_t>(s)],
                     own_weight = row.weights[static_cast<std::size_t>(s)];
        CHECK((own_score == doctest::Approx(score).epsilon(1e-6) ||
               (std::isnan(score) && std::isnan(own_score))));
        CHECK((own_weight == doctest::Approx(weight).epsilon(1e-5) ||
               (std::isnan(weight) && std::isnan(own_weight))));
      }
    }
  }
}

}  // namespace

TEST_CASE("at temperature 1 the soft look-up is the operator's own row, with every option") {
  for (const test::NamedInputs& named : test::single_option_inputs()) {
    CAPTURE(named.name);
    const TracePtr trace = reference_forward(named.inputs);
    const TraceTensors& t = trace->tensors;
    const Tensor undropped = *t.attn_weights;
    for (Index h = 0; h < undropped.shape().size(1); ++h) {
      const LookupComparison c = compare_lookups(*trace, 1, h, 2);
      const std::vector<Index>& frozen = trace->options.frozen_heads;
      if (std::ranges::find(frozen, h) != frozen.end()) {
        CHECK_CONTAINS(c.impossible_reason, "is frozen");
        continue;
      }
      REQUIRE(static_cast<Index>(c.soft.weights.size()) == undropped.shape().size(3));
      for (Index s = 0; s < undropped.shape().size(3); ++s) {
        const double weight = c.soft.weights[static_cast<std::size_t>(s)];
        const double expected = undropped.at({1, h, 2, s});
        if (std::isnan(expected))
          CHECK(std::isnan(weight));
        else
          CHECK(weight == doctest::Approx(expected));
      }
      if (trace->options.dropout > 0.0 || !c.possible()) continue;
      const Tensor& sums = t.latent_output ? *t.latent_output : *t.head_output;
      REQUIRE(static_cast<Index>(c.soft.result.size()) == sums.shape().size(3));
      for (Index w = 0; w < sums.shape().size(3); ++w)
        CHECK(c.soft.result[static_cast<std::size_t>(w)] == doctest::Approx(sums.at({1, h, 2, w})));
    }
  }
}

TEST_CASE(
    "the hard look-up is the value of the key with the largest score, of the head that serves this one") {
  const TracePtr trace = reference_forward(grouped());
  const TraceTensors& t = trace->tensors;
  for (Index h = 0; h < 4; ++h) {
    const LookupComparison c = compare_lookups(*trace, 1, h, 3);
    REQUIRE(c.possible());
    for (Index s = 0; s < 6; ++s)
      CHECK(t.masked_scores->at({1, h, 3, s}) <= c.scores[static_cast<std::size_t>(c.winner)]);
    double largest = 0.0;
    for (Index w = 0; w < 5; ++w) {
      const double hard = t.v_heads->at({1, h / 2, c.winner, w});
      CHECK(c.hard_result[static_cast<std::size_t>(w)] == hard);
      largest = std::max(largest, std::abs(hard - t.head_output->at({1, h, 3, w})));
    }
    CHECK(c.soft.difference == doctest::Approx(largest));
    CHECK(c.soft.winner_weight == doctest::Approx(t.attn_weights->at({1, h, 3, c.winner})));
  }
}

TEST_CASE("as the temperature falls the winner takes all, and the soft look-up ends at the hard one") {
  const TracePtr trace = reference_forward(grouped());
  const LookupComparison c = compare_lookups(*trace, 0, 1, 2);
  REQUIRE(c.equals == 1);
  REQUIRE(c.cooler.size() == std::size(lookup_temperatures));
  double weight = c.soft.winner_weight;
  for (const SoftLookup& cooler : c.cooler) {
    CHECK(cooler.winner_weight > weight);
    weight = cooler.winner_weight;
  }
  const SoftLookup cold = soft_lookup(*trace, 0, 1, 2, 1e-6);
  CHECK(cold.winner_weight == 1.0);
  CHECK(cold.difference == 0.0);
  const SoftLookup hot = soft_lookup(*trace, 0, 1, 2, 1e9);
  CHECK(hot.weights[0] == doctest::Approx(1.0 / 6.0));
}

TEST_CASE("a cooler look-up is what the operator computes at that attention.temperature") {
  AttentionInputs inputs = grouped();
  const TracePtr trace = reference_forward(inputs);
  inputs.options.temperature = 0.1;
  const TracePtr cooler = reference_forward(inputs);
  const SoftLookup soft = soft_lookup(*trace, 1, 3, 0, 0.1);
  for (Index w = 0; w < 5; ++w)
    CHECK(soft.result[static_cast<std::size_t>(w)] ==
          doctest::Approx(cooler->tensors.head_output->at({1, 3, 0, w})));
}

TEST_CASE("keys with the same largest score share the limit between them") {
  const LookupComparison c = compare_lookups(*trace_of_scores({0.5, 2.0, 2.0, -1.0}), 0, 0, 0);
  CHECK(c.winner == 1);
  CHECK(c.equals == 2);
  const SoftLookup cold = soft_lookup(*trace_of_scores({0.5, 2.0, 2.0, -1.0}), 0, 0, 0, 1e-6);
  CHECK(cold.weights == std::vector<double>{0.0, 0.5, 0.5, 0.0});
  CHECK(cold.difference > 0.0);
  CHECK(c.sentences.back().starts_with("2 keys share"));
}

TEST_CASE("there is no hard look-up without a key, with every key blocked, and where a score is no number") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_CONTAINS(compare_lookups(*trace_of_scores({}), 0, 0, 0).impossible_reason, "no key");
  CHECK_CONTAINS(compare_lookups(*trace_of_scores({1.0, nan}), 0, 0, 0).impossible_reason, "key 1 is NaN");
  AttentionInputs inputs = grouped();
  inputs.tensors.valid_lens = std::make_shared<const Tensor>(Shape{{"N", 2}}, std::vector<std::int64_t>{0, 6});
  for (const FullyMaskedRows rows : {FullyMaskedRows::nan, FullyMaskedRows::zero}) {
    inputs.options.fully_masked_rows = rows;
    const LookupComparison c = compare_lookups(*reference_forward(inputs), 0, 0, 0);
    CHECK(!c.possible());
    CHECK_CONTAINS(c.impossible_reason, "blocked");
    CHECK(std::isnan(c.soft.weights[0]) == (rows == FullyMaskedRows::nan));
    CHECK(c.cooler.empty());
  }
}

TEST_CASE("a place that the trace does not have is refused") {
  const TracePtr trace = reference_forward(grouped());
  CHECK_THROWS_AS(compare_lookups(*trace, 2, 0, 0), Error);
  CHECK_THROWS_AS(compare_lookups(*trace, 0, 4, 0), Error);
  CHECK_THROWS_AS(compare_lookups(*trace, 0, 0, -1), Error);
  CHECK_THROWS_AS(
      soft_lookup(*reference_forward(test::random_inputs(test::small_options(), {1, 0, 3})), 0, 0, 0, 1.0),
      Error);
}

TEST_CASE("with its own vector a query's row is that of the trace, for every option") {
  for (const test::NamedInputs& named : test::single_option_inputs()) check_rows(named);
  for (std::uint64_t seed = 0; seed < 40; ++seed) check_rows(test::random_combination(seed));
}

TEST_CASE("twice the vector has twice the scores, and a vector of another width is refused") {
  const TracePtr trace = reference_forward(test::single_option_inputs().front().inputs);
  std::vector<double> q = query_vector(*trace, 0, 0, 0);
  const QueryRow before = query_row_with(*trace, 0, 0, 0, q);
  for (double& x : q) x *= 2.0;
  const QueryRow doubled = query_row_with(*trace, 0, 0, 0, q);
  double change = 0.0;
  for (std::size_t s = 0; s < before.scores.size(); ++s) {
    CHECK(doubled.scores[s] == doctest::Approx(2.0 * before.scores[s]));
    change += std::abs(doubled.weights[s] - before.weights[s]);
  }
  CHECK(change > 0.0);
  q.pop_back();
  CHECK_THROWS_AS(query_row_with(*trace, 0, 0, 0, q), Error);
  CHECK_THROWS_AS(query_vector(*trace, 0, 0, 999), Error);
}
