#include "app/stage/inspector_sections.h"

#include <doctest/doctest.h>

#include "app/session/computation.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

Scenario with(std::initializer_list<const char*> settings) {
  Scenario scenario = preset_scenario("random");
  for (const char* setting : settings) scenario = with_setting(scenario, setting);
  return scenario;
}

Selection at_output(Index row, Index column) {
  Selection selection;
  selection.step = Step::output;
  selection.pinned = CellRef{{TensorId::output}, {0, row, column}};
  return selection;
}

}  // namespace

TEST_CASE("the shares of all heads and the bias add up to the cell and to one") {
  const ComputationPtr computed = compute(with({}), nullptr);
  for (const std::size_t shown : {20u, 8u, 3u}) {
    const std::vector<OutputShare> shares = output_shares(*computed->trace, at_output(2, 5), shown);
    CHECK(shares.size() == (shown >= 8 ? 9u : 5u));
    CHECK(shares.back().name == "bias");
    double sum = 0.0, all = 0.0;
    for (const OutputShare& share : shares) {
      sum += share.value;
      all += share.share;
    }
    CHECK(sum == doctest::Approx(computed->trace->tensors.output->at({0, 2, 5})).epsilon(1e-5));
    CHECK(all == doctest::Approx(1.0));
  }
}

TEST_CASE("of many heads the largest stand in their order, and the rest are one line") {
  const ComputationPtr computed = compute(with({}), nullptr);
  const std::vector<OutputShare> all = output_shares(*computed->trace, at_output(1, 1), 8);
  const std::vector<OutputShare> three = output_shares(*computed->trace, at_output(1, 1), 3);
  REQUIRE(three.size() == 5);
  CHECK(three[3].name == "5 other heads");
  double least = 1.0;
  for (std::size_t i = 0; i < 3; ++i) least = std::min(least, three[i].share);
  int larger = 0;
  for (std::size_t i = 0; i < 8; ++i) larger += all[i].share > least;
  CHECK(larger == 2);
  CHECK(three[0].name < three[1].name);
  CHECK(three[1].name < three[2].name);
}

TEST_CASE("only a cell of the output is shared out, and only where there is an output projection") {
  const ComputationPtr computed = compute(with({}), nullptr);
  Selection elsewhere = at_output(0, 0);
  elsewhere.pinned = CellRef{{TensorId::concat}, {0, 0, 0}};
  CHECK(output_shares(*computed->trace, elsewhere, 8).empty());
  CHECK(output_shares(*computed->trace, Selection{}, 8).empty());
  const ComputationPtr sdpa = compute(with({"op=scaled_dot_product_attention"}), nullptr);
  Selection cell = at_output(0, 0);
  cell.pinned = CellRef{{TensorId::output}, {0, 0, 0, 0}};
  CHECK(output_shares(*sdpa->trace, cell, 8).empty());
}

TEST_CASE("the inspector lists a pinned output cell head by head, and a muted head has nothing of it") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720, with({})));
  bench.selection() = at_output(2, 7);
  bench.ui->run_frames(2);
  for (int line = 0; line < 9; ++line) CHECK(bench.ui->has("inspector/share/" + std::to_string(line)));
  const UiRect panel = bench.ui->rect("panel/inspector"), last = bench.ui->rect("inspector/share/8");
  CHECK(last.max.y <= panel.max.y);
  bench.selection().head = 3;
  bench.ui->key("M");
  CHECK(output_shares(bench.trace(), bench.selection(), 8)[3].value == 0.0);
  bench.selection().step = Step::scores;
  bench.selection().pinned.reset();
  bench.ui->run_frames(2);
  CHECK_FALSE(bench.ui->has("inspector/share/0"));
}
