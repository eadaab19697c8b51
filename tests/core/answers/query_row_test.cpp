// A query's row computed anew: with its own vector it is the row of the trace, whatever the options are.
#include "core/answers/query_row.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/reference/reference_backend.h"
#include "core/tensor/error.h"
#include "tests/core/trace/option_combinations.h"

using namespace headwise;

namespace {

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
