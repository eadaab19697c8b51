// The tokens and the numbers of q ∘ k: what is drawn, without a window.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "app/content/map_figures.h"
#include "app/stage/views.h"
#include "tests/app/stage/stage_trace.h"

using namespace headwise;

namespace {

MatrixView weights(std::vector<double> values, Index rows, Index cols) {
  return matrix_view(std::make_shared<const Tensor>(Shape{{"L", rows}, {"S", cols}}, std::move(values)));
}

}  // namespace

TEST_CASE("a query keeps its strongest lines until they hold the share, and not one more") {
  const MatrixView view = weights({0.6, 0.3, 0.1, 0.0, 0.5, 0.5}, 2, 3);
  CHECK(attention_lines(view, 0.5, false, 100).lines.size() == 2);  // .6 | .5
  CHECK(attention_lines(view, 0.6, false, 100).lines.size() == 3);  // .6 | .5 .5
  CHECK(attention_lines(view, 0.9, false, 100).lines.size() == 4);  // .6 .3 | .5 .5
  CHECK(attention_lines(view, 1.0, false, 100).lines.size() == 5);  // the 0 joins nothing
}

TEST_CASE("counted for each key, a key that gets little keeps its line too") {
  const MatrixView view = weights({0.9, 0.1, 0.8, 0.2}, 2, 2);
  const AttentionLines lines = attention_lines(view, 0.5, true, 100);
  REQUIRE(lines.lines.size() == 2);
  CHECK(lines.lines[0].key == 1);
  CHECK(lines.lines[0].query == 1);  // .2 of .3
  CHECK(lines.lines[1].key == 0);
  CHECK(lines.lines[1].query == 0);  // .9 of 1.7
}

TEST_CASE("lines come weakest first, the weakest go where there are too many, NaN joins nothing") {
  const MatrixView view = weights({0.5, NAN, 0.4, 0.3, 0.2, 0.1}, 1, 6);
  const AttentionLines lines = attention_lines(view, 1.0, false, 3);
  REQUIRE(lines.lines.size() == 3);
  CHECK(lines.left_out == 2);
  CHECK(lines.lines[0].weight == 0.3);
  CHECK(lines.lines[2].weight == 0.5);
}

TEST_CASE("where there are too many lines every query keeps the same number of them") {
  const MatrixView view = weights(std::vector<double>(12, 0.25), 3, 4);
  const AttentionLines lines = attention_lines(view, 1.0, false, 7);
  CHECK(lines.left_out == 6);
  for (Index query = 0; query < 3; ++query)
    CHECK(std::ranges::count(lines.lines, query, &AttentionLine::query) == 2);
}

TEST_CASE("the rows of q ∘ k add up to the scores") {
  const TracedScenario given = traced();
  const StageMatrix q = *stage_matrix(*given.trace, {TensorId::q_heads}, {0, 2});
  const StageMatrix k = *stage_matrix(*given.trace, {TensorId::k_heads}, {0, 2});
  for (Index query = 0; query < 4; ++query) {
    const TensorPtr products = elementwise_products(q.view, query, k.view);
    for (Index key = 0; key < 4; ++key) {
      double sum = 0.0;
      for (Index d = 0; d < 4; ++d) sum += products->at({key, d});
      CHECK(sum == doctest::Approx(given.trace->tensors.scores->at({0, 2, query, key})).epsilon(1e-5));
    }
  }
}
