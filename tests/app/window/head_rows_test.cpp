// Head rows: one query in every head, beside the prediction; one wide head and back.
#include "app/session/head_gains.h"
#include "core/export/color_map.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

WindowBench open_rows(const Scenario& scenario, int width = 1600, int height = 1000) {
  WindowBench bench = open_window(width, height, scenario);
  if (!bench.ui) return bench;
  bench.selection().step = Step::softmax;
  bench.selection().view = StageView::head_rows;
  bench.selection().pinned = CellRef{{TensorId::attn_weights}, {0, 7, 9, 2}};
  bench.ui->run_frames(3);
  return bench;
}

const TokenPredictions& words_of(WindowBench& bench) {
  return *bench.state().document.predictions.of(bench.session().computation(), 0);
}

}  // namespace

TEST_CASE("every head has its row and its dot, and the dot of head 7 changes the word at it") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}}) {
    WINDOW_OR_SKIP(bench, open_rows(preset_scenario("welcome"), width, height));
    CAPTURE(width);
    for (int head = 0; head < 8; ++head) CHECK(bench.ui->has("head_rows/row/" + std::to_string(head)));
    CHECK(bench.ui->has("prediction/word/0"));
    CHECK(bench.ui->rect("prediction/word/0").max.x <= bench.ui->rect("panel/stage").max.x);
    CHECK(words_of(bench).positions[9].now[0].now > 0.9);
    bench.ui->click("heads/dot/7");
    CHECK(head_gain_of(bench.scenario(), 7) == 0.0);
    CHECK(words_of(bench).positions[9].before[0].now < 0.2);
  }
}

TEST_CASE("a blocked key looks blocked in every row, and both sides of the words are named beside them") {
  Scenario scenario = preset_scenario("welcome");
  scenario.mask.is_causal = true;
  for (const Theme theme : {Theme::dark, Theme::light}) {
    WINDOW_OR_SKIP(bench, open_rows(scenario, 1000, 620));
    bench.state().view.settings.theme = theme;
    bench.selection().pinned->index = {0, 7, 3, 2};
    bench.ui->key("F11").run_frames(3);
    const UiRect row = bench.ui->rect("head_rows/row/7");
    const auto at_key = [&](float key) {
      return bench.ui->pixel(int(row.min.x + (key + 0.3f) * (row.max.x - row.min.x) / 15),
                             int(0.6f * row.min.y + 0.4f * row.max.y));
    };
    CHECK(at_key(4) == blocked_color(theme));  // query 3 sees keys 0 to 3
    CHECK_FALSE(at_key(3) == blocked_color(theme));
    const float right = bench.ui->rect("panel/stage").max.x;
    for (const char* side : {"original", "with your changes"})
      CHECK(bench.ui->rect(std::string("prediction/side/") + side).max.x <= right);
  }
}

TEST_CASE("only views that turn their maps are said to be transposed") {
  WINDOW_OR_SKIP(bench, open_rows(preset_scenario("welcome")));
  const auto says_turned = [&] {
    bench.ui->run_until_still();
    return !bench.ui->said("Transposed: each query is a column here").empty();
  };
  bench.ui->key("Q");
  REQUIRE(bench.selection().queries_as_columns);
  CHECK_FALSE(says_turned());
  bench.selection().view = StageView::one_head;
  CHECK(says_turned());
}

TEST_CASE("one wide head has the same parameters and one row, and the way back and undo restore the heads") {
  WINDOW_OR_SKIP(bench, open_rows(preset_scenario("welcome")));
  const Scenario many = bench.scenario();
  const TensorPtr weight = bench.trace().tensors.q_proj_weight ? bench.trace().tensors.q_proj_weight
                                                               : bench.trace().tensors.in_proj_weight;
  REQUIRE(weight);
  bench.ui->click("stage/heads/one wide head");
  CHECK(bench.trace().options.num_heads == 1);
  CHECK(bench.trace().options.head_dim == 128);
  const TensorPtr wide = bench.trace().tensors.q_proj_weight ? bench.trace().tensors.q_proj_weight
                                                             : bench.trace().tensors.in_proj_weight;
  CHECK(identical(*wide, *weight));
  CHECK(bench.ui->has("head_rows/row/0"));
  CHECK_FALSE(bench.ui->has("head_rows/row/1"));
  bench.ui->click("stage/heads/8 heads");
  CHECK(bench.scenario() == many);
  bench.ui->click("stage/heads/one wide head");
  CHECK(bench.trace().options.num_heads == 1);
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == many);
  CHECK(bench.trace().options.num_heads == 8);
}

TEST_CASE("what was edited in the wide head stays when the heads come back") {
  WINDOW_OR_SKIP(bench, open_rows(preset_scenario("welcome")));
  bench.ui->click("stage/heads/one wide head").key("C");
  REQUIRE(bench.scenario().mask.is_causal);
  bench.ui->click("stage/heads/8 heads");
  CHECK(bench.scenario().mask.is_causal);
  CHECK(bench.trace().options.num_heads == 8);
  CHECK(bench.trace().options.head_dim == 16);
}

TEST_CASE("a wide head with other parameters is refused with the reason") {
  WINDOW_OR_SKIP(bench, open_rows(preset_scenario("hand_made")));
  CHECK_CONTAINS(no_wide_head(bench.scenario(), bench.session().inputs()), "hand-made");
  const Scenario before = bench.scenario();
  bench.ui->click("stage/heads/one wide head");
  CHECK(bench.scenario() == before);
  const WindowBench grouped = open_rows(preset_scenario("grouped_query"));
  CHECK_FALSE(no_wide_head(grouped.scenario(), grouped.session().inputs()).empty());
}

TEST_CASE("random parameters are the same numbers in one wide head, in every layout") {
  for (const ProjectionLayout layout :
       {ProjectionLayout::packed, ProjectionLayout::separate, ProjectionLayout::per_head}) {
    Scenario scenario = preset_scenario("random");
    scenario.parameters.layout = layout;
    const ScenarioInputs many = make_scenario_inputs(scenario, DType::f32);
    REQUIRE(no_wide_head(scenario, many).empty());
    const ScenarioInputs one = make_scenario_inputs(with_one_wide_head(scenario, many).scenario, DType::f32);
    CHECK(one.attention.options.num_heads == 1);
    const TraceTensors &a = many.attention.tensors, &b = one.attention.tensors;
    for (const auto& [before, after] : {std::pair{a.in_proj_weight, b.in_proj_weight},
                                        {a.q_proj_weight, b.q_proj_weight},
                                        {a.k_proj_weight, b.k_proj_weight},
                                        {a.out_proj_weight, b.out_proj_weight}}) {
      REQUIRE(static_cast<bool>(before) == static_cast<bool>(after));
      if (before) CHECK(identical(*before, *after));
    }
  }
}

TEST_CASE("without a model the rows are there, and with many heads the wheel goes through them") {
  Scenario scenario = preset_scenario("random");
  scenario.attention.num_heads = 64;
  WINDOW_OR_SKIP(bench, open_rows(scenario, 1280, 720));
  CHECK_FALSE(bench.ui->has("prediction/word/0"));
  CHECK(bench.ui->has("head_rows/row/0"));
  CHECK_FALSE(bench.ui->has("head_rows/row/63"));
  bench.ui->move_to("head_rows/row/3").wheel(-40.0);
  CHECK(bench.ui->has("head_rows/row/63"));
  CHECK_FALSE(bench.ui->has("head_rows/row/0"));
}
