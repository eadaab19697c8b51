// The stage, the inspector and the graph in the window, driven by mouse and keys.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/content/stage_content.h"
#include "app/window/main_window.h"
#include "core/picture/plane_rule.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/ui_driver.h"

using namespace headwise;

namespace {

// The window on a scenario of the welcome text, drawn once. Null where there is no GL.
struct Stage {
  std::unique_ptr<UiDriver> driver;
  std::unique_ptr<MainWindow> window;

  explicit Stage(const std::vector<std::string>& settings = {}, int width = 1280, int height = 720)
      : driver(UiDriver::start(width, height)) {
    if (!driver) return;
    Scenario scenario = preset_scenario("hand_made");
    for (const std::string& setting : settings) scenario = with_setting(scenario, setting);
    window = std::make_unique<MainWindow>(scenario);
    driver->set_frame([this](const FrameInput& input, const Fonts& fonts, float scale) {
      return window->frame(input, fonts, scale);
    });
    driver->run_frames(2);
  }

  explicit operator bool() const { return driver != nullptr; }
  const Selection& selection() const { return window->state().view.selection; }
  const Scenario& scenario() const { return window->state().document.session.scenario(); }
  const Trace& trace() const { return window->state().document.session.trace(); }
  void show(Step step, StageView view = StageView::one_head, int frames = 2) {
    window->state().view.selection.step = step;
    window->state().view.selection.view = view;
    window->state().view.selection.tensor.reset();
    driver->run_frames(frames);
  }

  PlaneGeometry plane(const std::string& name, Index rows, Index cols) const {
    const UiRect rect = driver->rect(name);
    return plane_geometry({rect.min.x, rect.min.y, rect.max.x - rect.min.x, rect.max.y - rect.min.y}, rows,
                          cols);
  }
  void move_to_cell(const std::string& name, Index rows, Index cols, Index row, Index col) {
    const RectF cell = plane(name, rows, cols).cell(row, col);
    driver->move_to(cell.x + cell.width / 2, cell.y + cell.height / 2);
  }
  void click_cell(const std::string& name, Index rows, Index cols, Index row, Index col) {
    const RectF cell = plane(name, rows, cols).cell(row, col);
    driver->click(cell.x + cell.width / 2, cell.y + cell.height / 2);
  }
};

}  // namespace

TEST_CASE("a cell under the mouse is previewed, a click pins it, a second click lets it go") {
  Stage stage;
  if (!stage) return;
  stage.show(Step::scores);
  stage.move_to_cell("stage/result", 12, 12, 8, 1);
  const CellRef cell{{TensorId::scores}, {0, 0, 8, 1}};
  CHECK(stage.selection().hovered == cell);
  CHECK_FALSE(stage.selection().pinned);
  stage.click_cell("stage/result", 12, 12, 8, 1);
  CHECK(stage.selection().pinned == cell);
  stage.driver->move_to("panel/graph");
  CHECK_FALSE(stage.selection().hovered);
  CHECK(stage.selection().pinned == cell);
  stage.click_cell("stage/result", 12, 12, 8, 1);
  CHECK_FALSE(stage.selection().pinned);
}

TEST_CASE("the operands know their cells, the one above is transposed") {
  Stage stage;
  if (!stage) return;
  stage.show(Step::scores);
  stage.move_to_cell("stage/left", 12, 16, 3, 5);
  CHECK(stage.selection().hovered == CellRef{{TensorId::q_heads}, {0, 0, 3, 5}});
  stage.move_to_cell("stage/above", 16, 12, 5, 3);
  CHECK(stage.selection().hovered == CellRef{{TensorId::k_heads}, {0, 0, 3, 5}});
  stage.show(Step::project);
  stage.move_to_cell("stage/above", 128, 128, 90, 20);
  CHECK(stage.selection().hovered == CellRef{{TensorId::in_proj_weight}, {20, 90}});
  stage.move_to_cell("stage/bias", 1, 128, 0, 17);
  CHECK(stage.selection().hovered == CellRef{{TensorId::in_proj_bias}, {17}});
}

TEST_CASE("a click on a thumbnail looks at its head, and a pinned cell goes along") {
  Stage stage;
  if (!stage) return;
  stage.show(Step::scores);
  stage.click_cell("stage/result", 12, 12, 8, 1);
  stage.driver->click("heads/thumbnail/3");
  CHECK(stage.selection().head == 3);
  CHECK(stage.selection().pinned == CellRef{{TensorId::scores}, {0, 3, 8, 1}});
  CHECK_FALSE(stage.scenario().head_gain);
}

TEST_CASE("the dot of a thumbnail mutes its head and the output changes, a second click brings it back") {
  Stage stage;
  if (!stage) return;
  stage.show(Step::output);
  const TensorPtr before = stage.trace().tensors.output;
  stage.driver->click("heads/dot/5");
  REQUIRE(stage.scenario().head_gain);
  CHECK((*stage.scenario().head_gain)[5] == 0.0);
  CHECK(stage.selection().head == 0);
  stage.window->state().document.session.finish();
  CHECK_FALSE(identical(*before, *stage.trace().tensors.output));
  stage.driver->run_frames(24);  // a click that follows too soon would be a double click
  stage.driver->click("heads/dot/5");
  stage.window->state().document.session.finish();
  CHECK_FALSE(stage.scenario().head_gain);
  CHECK(identical(*before, *stage.trace().tensors.output));
}

TEST_CASE("a double click makes a head solo, another one unmutes all of them") {
  Stage stage;
  if (!stage) return;
  stage.show(Step::softmax);
  stage.driver->double_click("heads/thumbnail/2");
  REQUIRE(stage.scenario().head_gain);
  CHECK(*stage.scenario().head_gain == std::vector<double>{0, 0, 1, 0, 0, 0, 0, 0});
  stage.driver->run_frames(24);
  stage.driver->double_click("heads/thumbnail/2");
  CHECK_FALSE(stage.scenario().head_gain);
}

TEST_CASE("a node of the graph leads to the step that makes its tensor") {
  Stage stage;
  if (!stage) return;
  stage.driver->click("graph/k");
  CHECK(stage.selection().step == Step::project);
  CHECK(stage.selection().tensor == TensorId::k);
  stage.move_to_cell("stage/result", 12, 128, 2, 40);
  CHECK(stage.selection().hovered == CellRef{{TensorId::k}, {0, 2, 40}});
  stage.driver->click("graph/attn_weights");
  CHECK(stage.selection().step == Step::softmax);
}

TEST_CASE("the view of all heads shows a map for each, and a click on a cell looks at its head") {
  Stage stage;
  if (!stage) return;
  stage.show(Step::softmax);
  stage.driver->click("stage/view/All heads");
  CHECK(stage.selection().view == StageView::all_heads);
  for (int head = 0; head < 8; ++head) CHECK(stage.driver->has(fmt::format("stage/map/{}", head)));
  stage.click_cell("stage/map/6", 12, 12, 2, 9);
  CHECK(stage.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 6, 2, 9}});
  CHECK(stage.selection().head == 6);
  stage.driver->click("heads/number/1");
  CHECK(stage.selection().head == 1);
  CHECK(stage.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 1, 2, 9}});
}

TEST_CASE("tabs choose among the pictures of a step") {
  Stage stage;
  if (!stage) return;
  stage.show(Step::project);
  stage.driver->click("stage/picture/v");
  CHECK(stage.selection().tensor == TensorId::v);
  stage.move_to_cell("stage/above", 128, 128, 0, 0);
  CHECK(stage.selection().hovered == CellRef{{TensorId::in_proj_weight}, {256, 0}});
}

TEST_CASE("a cell on the screen has the colour that the table gives its number") {
  Stage stage;
  if (!stage) return;
  for (const Theme theme : {Theme::dark, Theme::light}) {
    stage.window->state().view.settings.theme = theme;
    stage.show(Step::softmax);
    ValueRanges ranges;
    const StageContent content =
        stage_content(stage.trace(), stage.window->state().document.session.inputs().labels,
                      stage.selection(), theme, ranges);
    const ColorTable& table = color_table(ColorMap::viridis, theme);
    const PlaneGeometry plane = stage.plane("stage/result", 12, 12);
    for (Index row = 0; row < 12; ++row) {
      for (Index col = 0; col < 12; ++col) {
        const RectF cell = plane.cell(row, col);
        const Rgba8 drawn = stage.driver->pixel(static_cast<int>(cell.x) + 1, static_cast<int>(cell.y) + 1);
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
    Stage stage(settings, 1280, 720);
    if (!stage) return;
    stage.window->state().document.session.finish();
    for (const auto& [width, height] : {std::pair(1280, 720), std::pair(700, 600)}) {
      if (width < 1000 && &settings != &scenarios[1]) continue;
      stage.driver->resize(width, height);
      for (int step = 0; step < step_count; ++step) {
        for (const StageView view :
             {StageView::one_head, StageView::all_heads, StageView::tokens, StageView::head_rows,
              StageView::query_key_plane, StageView::elementwise, StageView::gradients}) {
          stage.show(static_cast<Step>(step), view, 1);
          CAPTURE(step);
          CAPTURE(static_cast<int>(view));
          CAPTURE(width);
          const UiRect panel = stage.driver->rect("panel/stage");
          for (const std::string& name : stage.driver->names()) {
            if (!name.starts_with("stage/") && !name.starts_with("heads/") && !name.starts_with("qk/row") &&
                !name.starts_with("head_rows/"))
              continue;
            if (name.starts_with("stage/picture/") || name.starts_with("stage/batch/")) continue;
            const UiRect rect = stage.driver->rect(name);
            const bool inside = rect.min.x >= panel.min.x && rect.min.y >= panel.min.y &&
                                rect.max.x <= panel.max.x + 1 && rect.max.y <= panel.max.y + 1;
            if (!inside) FAIL_CHECK(name << " reaches out of the stage");
          }
        }
      }
    }
  }
}
