// The sheet that answers "is it the same?", driven as a person would.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

Scenario with(std::initializer_list<const char*> settings) {
  Scenario scenario = preset_scenario("random");
  for (const char* setting : settings) scenario = with_setting(scenario, setting);
  return scenario;
}

ComparisonSheetState& comparison_sheet(WindowBench& bench) {
  return bench.state().dialogs.comparison;
}

void check_inside(const WindowBench& bench) {
  const UiRect frame = bench.ui->rect("overlay/comparison");
  for (const std::string& name : bench.ui->names()) {
    if (!name.starts_with("comparison/")) continue;
    const UiRect rect = bench.ui->rect(name);
    if (rect.min.x < frame.min.x || rect.max.x > frame.max.x + 1)
      FAIL_CHECK(name << " reaches out of the sheet");
  }
}

}  // namespace

TEST_CASE("the sheet opens by its key and by the menu, and Escape and the key close it") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  bench.ui->key("I");
  CHECK(comparison_sheet(bench).open);
  CHECK(bench.ui->has("overlay/comparison"));
  bench.ui->key("I");
  CHECK_FALSE(comparison_sheet(bench).open);
  bench.ui->click("menu/Help").click("menu/Is it the same?");
  CHECK(comparison_sheet(bench).open);
  bench.ui->key("Right");
  CHECK(bench.selection().step == Step::inputs);
  bench.ui->key("Escape");
  CHECK_FALSE(comparison_sheet(bench).open);
}

TEST_CASE("the sheet has a tab for each question, its figures inside, dark and light, at every usual size") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {900, 600}}) {
    bench.ui->resize(width, height).key("T").key("I").click("comparison/tab/0");
    for (int row = 0; row < 3; ++row) {
      bench.ui->check_shown(
          {"comparison/layouts/" + std::to_string(row), "comparison/einsums/" + std::to_string(row)});
    }
    check_inside(bench);
    bench.ui->click("comparison/tab/1");
    bench.ui->check_shown({"comparison/heads/1", "comparison/differences/6", "comparison/map/1"});
    check_inside(bench);
    bench.ui->click("comparison/tab/2");
    bench.ui->check_shown({"comparison/keys/11", "comparison/values"});
    check_inside(bench);
    bench.ui->key("I");
  }
}

TEST_CASE("the sheet tells the largest weight there is, and its maps have the colours of the stage") {
  for (const char* preset : {"welcome", "hand_made"}) {
    CAPTURE(preset);
    WINDOW_OR_SKIP(bench, open_unpainted(1280, 720, preset_scenario(preset)));
    const Tensor& weights = *bench.trace().tensors.attn_weights;
    double largest = 0.0;
    for (Index i = 0; i < weights.size(); ++i) largest = std::max(largest, weights.flat(i));
    bench.ui->click("step_bar/step/6").key("I").click("comparison/tab/1").run_frames(3);
    bench.ui->check_shown({fmt::format("says/attn_weights, largest: {:.3g}", largest),
                           fmt::format("says/head {}, colours 0 … {:.3g}", bench.selection().head, largest)});
  }
}

TEST_CASE("the look-up begins at the pinned query, steps, cools, and changes no scenario") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720, with({})));
  const Scenario before = bench.scenario();
  bench.selection().pinned = CellRef{{TensorId::scores}, {0, 2, 5, 1}};
  bench.selection().head = 2;
  bench.ui->key("I").click("comparison/tab/2");
  const LookupViewState& lookup = comparison_sheet(bench).lookup;
  CHECK(lookup.head == 2);
  CHECK(lookup.query == 5);
  CHECK(lookup.temperature() == doctest::Approx(1.0));
  const double at_one = lookup.soft.winner_weight;
  CHECK(at_one == doctest::Approx(bench.trace().tensors.attn_weights->at({0, 2, 5, lookup.comparison.winner}))
                      .epsilon(1e-5));
  bench.ui->click("comparison/query/forward");
  CHECK(lookup.query == 6);
  bench.ui->click("comparison/query/back").click("comparison/head/back");
  CHECK(lookup.head == 1);
  bench.ui->click("comparison/head/forward");

  bench.ui->drag(bench.ui->at("comparison/temperature", 0.66f), bench.ui->at("comparison/temperature", -0.2f));
  CHECK(lookup.temperature() == doctest::Approx(0.01));
  CHECK(lookup.soft.winner_weight > at_one);
  CHECK(lookup.soft.difference < 0.2 * lookup.comparison.soft.difference);
  CHECK(bench.scenario() == before);
  CHECK(bench.session().history().step_count() == 1);
}

TEST_CASE("what an edit changes is compared anew, and undo brings the first comparison back") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720, with({})));
  Comparisons& comparisons = bench.state().document.comparisons;
  const auto many = [&] { return comparisons.of(bench.session().trace_ptr())->head_width; };
  bench.ui->key("I");
  const double before = many().output.difference;
  bench.ui->key("I").click("setup/layout/3·H").key("Escape").key("C").key("I");
  CHECK(many().output.difference != before);
  bench.ui->key("I").key("Ctrl+Z").key("Ctrl+Z").key("I");
  CHECK(many().output.difference == before);
}

TEST_CASE("each scenario has its sheet: grouped heads, widths not to be packed, no query, no projection") {
  const std::initializer_list<const char*> kinds[] = {
      {"attention.num_kv_heads=2", "attention.v_head_dim=5", "inputs.batch=2"},
      {"inputs.self_attention=false", "attention.kdim=24", "attention.vdim=40", "inputs.source=random"},
      {"inputs.source=random", "inputs.query_length=0"},
      {"inputs.source=random", "inputs.batch=0"},
      {"inputs.source=random", "inputs.self_attention=false", "inputs.key_length=0"},
      {"op=scaled_dot_product_attention", "inputs.source=random"},
      {"attention.num_heads=1"},
      {"mask.valid_lens=[0]", "mask.fully_masked_rows=nan"}};
  for (const auto& settings : kinds) {
    WINDOW_OR_SKIP(bench, open_unpainted(1280, 720, with(settings)));
    CAPTURE(*settings.begin());
    bench.ui->key("I");
    for (const char* tab : {"comparison/tab/0", "comparison/tab/1", "comparison/tab/2"}) {
      bench.ui->click(tab);
      CHECK(bench.ui->has("overlay/comparison"));
      check_inside(bench);
    }
  }
}

TEST_CASE("large scenarios are compared behind the window, which says so meanwhile") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720, with({"attention.embed_dim=256"})));
  Comparisons& comparisons = bench.state().document.comparisons;
  Comparisons own;
  const TracePtr trace = bench.session().trace_ptr();
  const auto at_first = own.of(trace);
  own.finish();
  const auto later = own.of(trace);
  REQUIRE(later);
  CHECK(later->error.empty());
  CHECK(later->trace == trace);
  CHECK(later->layouts.layouts[2].matrix_count == 24);
  CHECK(at_first == nullptr);
  bench.ui->key("I");
  comparisons.finish();
  bench.ui->run_frames(2);
  CHECK(bench.ui->has("comparison/layouts/2"));
  // Work that nobody wants any more is let go of, and who comes back meanwhile finds what was known.
  const ComputationPtr other = compute(with({"attention.embed_dim=512"}), nullptr);
  CHECK(own.of(other->trace) == nullptr);
  CHECK(own.of(trace) == later);
}
