#include "core/attention/blocked_cells.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/attention/changed_tokens.h"
#include "core/attention/reference_backend.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"

using namespace headwise;
using Id = TensorId;

namespace {

TracePtr trace_of(const Scenario& scenario) {
  return reference_forward(make_scenario_inputs(scenario, DType::f32).attention);
}

Scenario padded() {
  Scenario scenario = preset_scenario("hand_made");
  scenario.mask.valid_lens.emplace(1, std::vector<std::int64_t>{9});
  return scenario;
}

}  // namespace

TEST_CASE("masks act on the scores behind them, on the weights, and on the gradients before them") {
  CHECK(is_masked({Id::masked_scores}));
  CHECK(is_masked({Id::attn_output_weights}));
  CHECK_FALSE(is_masked({Id::scores}));
  CHECK(is_masked({Id::scores, true}));
  CHECK(is_masked({Id::scaled_scores, true}));
  CHECK_FALSE(is_masked({Id::attn_weights, true}));
  CHECK_FALSE(is_masked({Id::head_output}));
}

TEST_CASE(
    "a cell of the mean over heads is blocked where every head is, and the mask of the mean is made once") {
  const TracePtr trace = trace_of(padded());
  const Shape& shape = trace->tensors.attn_output_weights->shape();
  REQUIRE(shape.rank() == 3);
  const TensorPtr mean = blocked_cells(*trace, {Id::attn_output_weights});
  REQUIRE(mean);
  CHECK(mean == blocked_cells(*trace, {Id::attn_output_weights}));
  CHECK(mean->shape().same_sizes(shape));
  for (Index query = 0; query < shape.size(1); ++query)
    for (Index key = 0; key < shape.size(2); ++key) {
      CHECK(is_blocked(*trace, {Id::attn_output_weights}, {0, query, key}) == (key >= 9));
      CHECK(is_blocked(*trace, {Id::attn_weights}, {0, 3, query, key}) == (key >= 9));
      CHECK_FALSE(is_blocked(*trace, {Id::scores}, {0, 3, query, key}));
    }
}

TEST_CASE(
    "a query chooses among the keys that no mask blocks, and among blocked ones that get weight all the "
    "same") {
  Scenario scenario = padded();
  CHECK(open_keys(*trace_of(preset_scenario("hand_made")), 0, 0, 4) == 12);
  CHECK(open_keys(*trace_of(scenario), 0, 0, 4) == 9);
  scenario.mask.is_causal = true;
  CHECK(open_keys(*trace_of(scenario), 0, 0, 4) == 5);
  scenario.mask.value = -1e9;  // its weight is 0 in f32
  CHECK(open_keys(*trace_of(scenario), 0, 0, 4) == 5);
  scenario.mask.value = 0.0;  // blocks nothing really
  CHECK(open_keys(*trace_of(scenario), 0, 0, 4) == 12);
  scenario.mask.value = -1e9;
  scenario.mask.valid_lens.emplace(
      1, std::vector<std::int64_t>{0});  // every key is blocked: all get the same weight
  CHECK(open_keys(*trace_of(scenario), 0, 0, 4) == 12);
}

TEST_CASE("tokens that differ in a bit are found, neighbours as one run, batch by batch") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor before(Shape{{"N", 2}, {"L", 5}, {"E", 3}}, dtype);
    CHECK(changed_tokens(before, before).empty());
    Tensor x = before;
    CHECK(changed_tokens(before, x).empty());  // another array with the same numbers
    x.set_flat((0 * 5 + 3) * 3 + 2, 1.0);
    x.set_flat((0 * 5 + 4) * 3 + 0, 1.0);
    x.set_flat((1 * 5 + 0) * 3 + 1, -0.0);  // another bit, the same number
    x.set_flat((1 * 5 + 2) * 3 + 1, std::numeric_limits<double>::quiet_NaN());
    const std::vector<TokenRange> changed = changed_tokens(before, x);
    REQUIRE(changed.size() == 3);
    CHECK(changed[0].n == 0);
    CHECK(changed[0].first == 3);
    CHECK(changed[0].count == 2);
    CHECK(changed[1].n == 1);
    CHECK(changed[1].first == 0);
    CHECK(changed[1].count == 1);
    CHECK(changed[2].first == 2);
    CHECK(changed_tokens(x, x).empty());
    CHECK(changed_tokens(x, Tensor(x)).empty());  // NaN is the same NaN
  }
}

TEST_CASE("among the indexer's scores those that a mask blocks are not those that it leaves out") {
  const TracePtr trace = trace_of(preset_scenario("indexer"));
  const TensorPtr cells = blocked_cells(*trace, {Id::indexer_scores});
  REQUIRE(cells);
  CHECK(cells == blocked_cells(*trace, {Id::indexer_scores}));
  const Tensor& mask = *trace->tensors.mask_bias;
  const Index length = cells->shape().size(1);
  Index left_out = 0;
  for (Index query = 0; query < length; ++query)
    for (Index key = 0; key < length; ++key) {
      const double cell = cells->at({0, query, key});
      CHECK((cell == -INFINITY) == (key > query));
      CHECK(is_blocked(*trace, {Id::indexer_scores}, {0, query, key}) == (key > query));
      CHECK(std::isinf(cell) == std::isinf(mask.at({0, 0, query, key})));
      left_out += cell == INFINITY ? 1 : 0;
    }
  CHECK(left_out > 0);
}
