// The view of gradients in the window: it computes them when it is shown, and its cells are the reference's.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <imgui.h>

#include <ranges>

#include "core/attention/reference_backend.h"
#include "core/export/plane_rule.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

Scenario welcome_with(const std::vector<std::string>& settings) {
  Scenario scenario = preset_scenario("hand_made");
  for (const std::string& setting : settings) scenario = with_setting(scenario, setting);
  return scenario;
}

int begun(const WindowBench& bench) {
  return bench.state().document.gradients.begun();
}

const Trace& with_gradients(const WindowBench& bench) {
  return bench.state().document.trace_at_hand();
}

}  // namespace

TEST_CASE("no gradient is computed before the view of gradients is shown, and one pass then") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.ui->click("step_bar/step/3");
  for (const char* view : {"All heads", "Tokens", "q∘k", "One head"})
    bench.ui->click(fmt::format("stage/view/{}", view)).move_to("panel/stage");
  bench.ui->key("C").run_frames(5);
  CHECK(begun(bench) == 0);
  CHECK(&with_gradients(bench) == &bench.trace());
  bench.ui->click("stage/view/Gradients");
  for (int i = 0; i < 3; ++i) bench.ui->key("Left");
  bench.ui->run_frames(5);
  CHECK(begun(bench) == 1);
  CHECK(with_gradients(bench).grad.scores);
  bench.ui->key("C");  // an edit: another pass, for the view is still there
  bench.ui->run_frames(3);
  CHECK(begun(bench) == 2);
  bench.ui->click("stage/view/One head").key("C").run_frames(3);
  CHECK(begun(bench) == 2);
}

TEST_CASE("a cell of a gradient on the screen has the colour that the table gives the reference's number") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("step_bar/step/3").click("stage/view/Gradients").key("3").move_to("panel/graph");
  const TensorPtr gradient = reference_backward(bench.trace())->grad.scores;
  double most = 0.0;
  for (Index i = 0; i < 144; ++i) most = std::max(most, std::abs(gradient->at({0, 3, i / 12, i % 12})));
  REQUIRE(most > 0.0);
  for (Index i = 0; i < 144; ++i) {
    const RectF cell = cell_of(bench, "stage/grad/result", 12, 12, i / 12, i % 12);
    const Rgba8 drawn = bench.ui->pixel(static_cast<int>(cell.x) + 1, static_cast<int>(cell.y) + 1);
    const Rgba8 expected = color_at(gradient->at({0, 3, i / 12, i % 12}), {-most, most},
                                    color_table(ColorMap::blue_orange, Theme::dark));
    const bool near = std::abs(drawn.r - expected.r) <= 1 && std::abs(drawn.g - expected.g) <= 1 &&
                      std::abs(drawn.b - expected.b) <= 1;
    if (!near) FAIL_CHECK("cell " << i / 12 << "," << i % 12 << " has another colour");
  }
}

TEST_CASE("a gradient's cell is named under the mouse, pinned by a click, explained, and let go by Escape") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("step_bar/step/3").click("stage/view/Gradients").move_to("panel/graph");
  const Image still = bench.ui->pixels();
  const CellRef cell{{TensorId::scores, true}, {0, 0, 8, 1}};
  bench.ui->click(middle_of_cell(bench, "stage/grad/result", 8, 1));
  CHECK(bench.selection().hovered == cell);
  CHECK(bench.selection().pinned == cell);
  CHECK(bench.ui->has("inspector/from/0"));
  bench.ui->move_to("panel/graph");
  CHECK(bench.selection().pinned == cell);
  // Both planes mark it: the outline lies around the cell.
  const Image marked = bench.ui->pixels();
  for (const char* plane : {"stage/result", "stage/grad/result"}) {
    const RectF at = cell_of(bench, plane, 12, 12, 8, 1);
    const auto pixel = [&](const Image& image) {
      const auto index = static_cast<std::size_t>(
          (static_cast<Index>(at.y + at.height / 2) * image.width + static_cast<Index>(at.x - 1)) * 4);
      return std::vector<std::uint8_t>(image.rgba.begin() + static_cast<std::ptrdiff_t>(index),
                                       image.rgba.begin() + static_cast<std::ptrdiff_t>(index) + 3);
    };
    CHECK(pixel(marked) != pixel(still));
  }
  // It stays, and is explained, in other views; and it moves with an edit that leaves it.
  bench.ui->click("stage/view/One head");
  CHECK(bench.selection().pinned == cell);
  CHECK(bench.ui->has("inspector/from/0"));
  bench.ui->key("C").run_frames(3);
  CHECK(bench.selection().pinned == cell);
  bench.ui->key("Escape");
  CHECK_FALSE(bench.selection().pinned);
}

TEST_CASE("from a gradient's cell the inspector leads back along the walk") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("step_bar/step/3").click("stage/view/Gradients");
  bench.ui->click(middle_of_cell(bench, "stage/grad/result", 8, 1));
  bench.ui->click("inspector/from/0");
  CHECK(bench.selection().pinned == CellRef{{TensorId::scaled_scores, true}, {0, 0, 8, 1}});
  CHECK(bench.selection().step == Step::scale);
  CHECK(bench.selection().view == StageView::gradients);
  bench.ui->key("Ctrl+C");
}

TEST_CASE("the loss is chosen over the planes, and an edit keeps the choice") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("step_bar/step/9").click("stage/view/Gradients");
  const Scenario before = bench.scenario();
  CHECK(with_gradients(bench).grad.output->flat(7) == 1.0);
  bench.ui->click("stage/loss/first cell").run_frames(2);
  CHECK(with_gradients(bench).grad.output->flat(7) == 0.0);
  bench.ui->key("C").run_frames(3);
  CHECK(with_gradients(bench).grad.output->flat(7) == 0.0);
  bench.ui->click("stage/loss/random").run_frames(2);
  CHECK(std::abs(with_gradients(bench).grad.output->flat(7)) == 1.0);
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == before);  // a loss is no edit
  CHECK(bench.selection().loss == Loss::random);
}

TEST_CASE("every step of every operator shows its gradients or says why there are none") {
  for (const auto& settings : std::vector<std::vector<std::string>>{
           {},
           {"inputs.source=random", "parameters.source=random", "op=scaled_dot_product_attention"},
           {"inputs.source=random", "parameters.source=random", "attention.num_kv_heads=2",
            "attention.add_bias_kv=true", "attention.layer_norm=true", "inputs.batch=2"},
           {"attention.qk_norm=per_head"},
           {"inputs.source=random", "parameters.source=random", "inputs.query_length=0"}}) {
    WINDOW_OR_SKIP(bench, open_window(1280, 720, welcome_with(settings)));
    bench.session().finish();
    bench.selection().view = StageView::gradients;
    bench.ui->run_frames(2);
    bench.state().document.gradients.finish();
    bench.ui->key("End");
    for (const Step step : shown_steps(bench.trace().options) | std::views::reverse) {
      CAPTURE(static_cast<int>(step));
      REQUIRE(bench.selection().step == step);
      const bool cells =
          !step_pictures(step, bench.trace()).empty() && bench.trace().tensors.scores->size() > 0;
      CHECK(bench.ui->has("stage/result") == cells);
      CHECK(bench.ui->has("stage/grad/result") == cells);
      CHECK_FALSE(bench.state().view.motion.running);
      bench.ui->key("Left");
    }
  }
}

TEST_CASE("what is copied and exported of the view is the gradient") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.ui->click("step_bar/step/3").key("Ctrl+E");
  CHECK(bench.state().dialogs.export_dialog.what.tensor == TensorName{TensorId::scores});
  bench.ui->key("Escape").click("stage/view/Gradients").key("Ctrl+E");
  const ExportDialogState& dialog = bench.state().dialogs.export_dialog;
  CHECK(dialog.what.tensor == TensorName{TensorId::scores, true});
  CHECK(dialog.path.ends_with("/scores-gradients.png"));
  bench.ui->key("Escape");
  bench.ui->click(middle_of_cell(bench, "stage/grad/result", 3, 2));
  bench.ui->key("Ctrl+C");
  const double number = with_gradients(bench).grad.scores->at({0, 0, 3, 2});
  CHECK(std::string(ImGui::GetClipboardText()) == fmt::format("{:.9g}", number));
}

TEST_CASE("a large trace has its gradients a while after, and the window goes on meanwhile") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720,
                                    welcome_with({"inputs.source=random", "parameters.source=random",
                                                  "inputs.query_length=200"})));
  bench.ui->click("step_bar/step/3");
  bench.selection().view = StageView::gradients;
  bench.ui->run_frames(1);
  CHECK_FALSE(bench.ui->has("stage/grad/result"));
  bench.state().document.gradients.finish();
  bench.ui->run_frames(2);
  CHECK(bench.ui->has("stage/grad/result"));
  CHECK(begun(bench) == 1);
}
