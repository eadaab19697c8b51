// The stage, the inspector and the graph in the window, driven by mouse and keys.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/content/stage_content.h"
#include "core/export/plane_rule.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

WindowBench open_stage(const std::vector<std::string>& settings = {}) {
  Scenario scenario = preset_scenario("hand_made");
  for (const std::string& setting : settings) scenario = with_setting(scenario, setting);
  return open_window(1280, 720, scenario);
}

void show(const WindowBench& stage, Step step, StageView view = StageView::one_head, int frames = 2) {
  stage.selection().step = step;
  stage.selection().view = view;
  stage.selection().tensor.reset();
  stage.ui->run_frames(frames);
}

}  // namespace

TEST_CASE("a cell under the mouse is previewed, a click pins it, a second click lets it go") {
  WINDOW_OR_SKIP(stage, open_stage());
  show(stage, Step::scores);
  stage.ui->move_to(middle_of_cell(stage, "stage/result", 8, 1));
  const CellRef cell{{TensorId::scores}, {0, 0, 8, 1}};
  CHECK(stage.selection().hovered == cell);
  CHECK_FALSE(stage.selection().pinned);
  stage.ui->click(middle_of_cell(stage, "stage/result", 8, 1));
  CHECK(stage.selection().pinned == cell);
  stage.ui->move_to("panel/graph");
  CHECK_FALSE(stage.selection().hovered);
  CHECK(stage.selection().pinned == cell);
  stage.ui->click(middle_of_cell(stage, "stage/result", 8, 1));
  CHECK_FALSE(stage.selection().pinned);
}

TEST_CASE("the operands know their cells, the one above is transposed") {
  WINDOW_OR_SKIP(stage, open_stage());
  show(stage, Step::scores);
  stage.ui->move_to(middle_of_cell(stage, "stage/left", 3, 5, 12, 16));
  CHECK(stage.selection().hovered == CellRef{{TensorId::q_heads}, {0, 0, 3, 5}});
  stage.ui->move_to(middle_of_cell(stage, "stage/above", 5, 3, 16, 12));
  CHECK(stage.selection().hovered == CellRef{{TensorId::k_heads}, {0, 0, 3, 5}});
  show(stage, Step::project);
  stage.ui->move_to(middle_of_cell(stage, "stage/above", 90, 20, 128, 128));
  CHECK(stage.selection().hovered == CellRef{{TensorId::in_proj_weight}, {20, 90}});
  stage.ui->move_to(middle_of_cell(stage, "stage/bias", 0, 17, 1, 128));
  CHECK(stage.selection().hovered == CellRef{{TensorId::in_proj_bias}, {17}});
}

TEST_CASE("a click on a thumbnail looks at its head, and a pinned cell goes along") {
  WINDOW_OR_SKIP(stage, open_stage());
  show(stage, Step::scores);
  stage.ui->click(middle_of_cell(stage, "stage/result", 8, 1));
  stage.ui->click("heads/thumbnail/3");
  CHECK(stage.selection().head == 3);
  CHECK(stage.selection().pinned == CellRef{{TensorId::scores}, {0, 3, 8, 1}});
  CHECK_FALSE(stage.scenario().head_gain);
}

TEST_CASE("the dot of a thumbnail mutes its head and the output changes, a second click brings it back") {
  WINDOW_OR_SKIP(stage, open_stage());
  show(stage, Step::output);
  const TensorPtr before = stage.trace().tensors.output;
  stage.ui->click("heads/dot/5");
  REQUIRE(stage.scenario().head_gain);
  CHECK((*stage.scenario().head_gain)[5] == 0.0);
  CHECK(stage.selection().head == 0);
  stage.session().finish();
  CHECK_FALSE(identical(*before, *stage.trace().tensors.output));
  stage.ui->run_frames(24);  // a click that follows too soon would be a double click
  stage.ui->click("heads/dot/5");
  stage.session().finish();
  CHECK_FALSE(stage.scenario().head_gain);
  CHECK(identical(*before, *stage.trace().tensors.output));
}

TEST_CASE("a double click makes a head solo, another one unmutes all of them") {
  WINDOW_OR_SKIP(stage, open_stage());
  show(stage, Step::softmax);
  stage.ui->double_click("heads/thumbnail/2");
  REQUIRE(stage.scenario().head_gain);
  CHECK(*stage.scenario().head_gain == std::vector<double>{0, 0, 1, 0, 0, 0, 0, 0});
  stage.ui->run_frames(24);
  stage.ui->double_click("heads/thumbnail/2");
  CHECK_FALSE(stage.scenario().head_gain);
}

TEST_CASE("a node of the graph leads to the step that makes its tensor") {
  WINDOW_OR_SKIP(stage, open_stage());
  stage.ui->click("graph/k");
  CHECK(stage.selection().step == Step::project);
  CHECK(stage.selection().tensor == TensorId::k);
  stage.ui->move_to(middle_of_cell(stage, "stage/result", 2, 40, 12, 128));
  CHECK(stage.selection().hovered == CellRef{{TensorId::k}, {0, 2, 40}});
  stage.ui->click("graph/attn_weights");
  CHECK(stage.selection().step == Step::softmax);
}

TEST_CASE("the view of all heads shows a map for each, and a click on a cell looks at its head") {
  WINDOW_OR_SKIP(stage, open_stage());
  show(stage, Step::softmax);
  stage.ui->click("stage/view/All heads");
  CHECK(stage.selection().view == StageView::all_heads);
  for (int head = 0; head < 8; ++head) CHECK(stage.ui->has(fmt::format("stage/map/{}", head)));
  stage.ui->click(middle_of_cell(stage, "stage/map/6", 2, 9));
  CHECK(stage.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 6, 2, 9}});
  CHECK(stage.selection().head == 6);
  stage.ui->click("heads/number/1");
  CHECK(stage.selection().head == 1);
  CHECK(stage.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 1, 2, 9}});
}

TEST_CASE("tabs choose among the pictures of a step") {
  WINDOW_OR_SKIP(stage, open_stage());
  show(stage, Step::project);
  stage.ui->click("stage/picture/v");
  CHECK(stage.selection().tensor == TensorId::v);
  stage.ui->move_to(middle_of_cell(stage, "stage/above", 0, 0, 128, 128));
  CHECK(stage.selection().hovered == CellRef{{TensorId::in_proj_weight}, {256, 0}});
}

TEST_CASE("a cell on the screen has the colour that the table gives its number") {
  WINDOW_OR_SKIP(stage, open_stage());
  for (const Theme theme : {Theme::dark, Theme::light}) {
    stage.state().view.settings.theme = theme;
    show(stage, Step::softmax);
    ValueRanges ranges;
    const StageContent content =
        stage_content(stage.trace(), stage.session().inputs().labels, stage.selection(), theme, ranges);
    const ColorTable& table = color_table(ColorMap::viridis, theme);
    for (Index row = 0; row < 12; ++row) {
      for (Index col = 0; col < 12; ++col) {
        const RectF cell = cell_of(stage, "stage/result", 12, 12, row, col);
        const Rgba8 drawn = stage.ui->pixel(static_cast<int>(cell.x) + 1, static_cast<int>(cell.y) + 1);
        const Rgba8 expected =
            color_at(content.result->matrix.view.value(row, col), content.result->spec.range, table);
        const bool near = std::abs(drawn.r - expected.r) <= 1 && std::abs(drawn.g - expected.g) <= 1 &&
                          std::abs(drawn.b - expected.b) <= 1;
        if (!near) FAIL_CHECK("cell " << row << "," << col << " has another colour");
      }
    }
  }
}

TEST_CASE("every step is drawn inside its panel, whatever the scenario and the size of the window") {
  const std::vector<std::vector<std::string>> scenarios = {
      {},
      {"inputs.source=random", "parameters.source=random", "inputs.batch=3", "attention.num_kv_heads=2",
       "inputs.self_attention=false", "inputs.key_length=30", "mask.is_causal=true", "attention.dropout=0.3",
       "attention.residual=true", "attention.layer_norm=true", "attention.add_bias_kv=true"},
      {"inputs.source=random", "parameters.source=random", "attention.embed_dim=96", "attention.num_heads=96"},
      {"inputs.source=random", "parameters.source=random", "inputs.query_length=0"},
      {"inputs.source=random", "parameters.source=random", "op=scaled_dot_product_attention"}};
  for (const auto& settings : scenarios) {
    WINDOW_OR_SKIP(stage, open_stage(settings));
    stage.session().finish();
    for (const auto& [width, height] : {std::pair(1280, 720), std::pair(700, 600)}) {
      if (width < 1000 && &settings != &scenarios[1]) continue;
      stage.ui->resize(width, height);
      for (int step = 0; step < step_count; ++step) {
        for (const StageView view :
             {StageView::one_head, StageView::all_heads, StageView::tokens, StageView::head_rows,
              StageView::query_key_plane, StageView::elementwise, StageView::gradients}) {
          show(stage, static_cast<Step>(step), view, 1);
          CAPTURE(step);
          CAPTURE(static_cast<int>(view));
          CAPTURE(width);
          const UiRect panel = stage.ui->rect("panel/stage");
          for (const std::string& name : stage.ui->names()) {
            if (!name.starts_with("stage/") && !name.starts_with("heads/") && !name.starts_with("qk/row") &&
                !name.starts_with("head_rows/"))
              continue;
            if (name.starts_with("stage/picture/") || name.starts_with("stage/batch/")) continue;
            const UiRect rect = stage.ui->rect(name);
            const bool inside = rect.min.x >= panel.min.x && rect.min.y >= panel.min.y &&
                                rect.max.x <= panel.max.x + 1 && rect.max.y <= panel.max.y + 1;
            if (!inside) FAIL_CHECK(name << " reaches out of the stage");
          }
        }
      }
    }
  }
}
