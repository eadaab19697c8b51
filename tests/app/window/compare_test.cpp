// The view Compare in the window: a pinned scenario and ready-made ones beside the present, with one cursor.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "app/content/paired_layout.h"
#include "core/export/plane_rule.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

// Whether the pixel left of the cell's middle edge differs: an outline is drawn around it.
bool outlined(const WindowBench& bench, const Image& still, const char* plane, Index row, Index col) {
  const RectF cell = cell_of(bench, plane, 12, 12, row, col);
  const int x = static_cast<int>(cell.x) - 1, y = static_cast<int>(cell.y + cell.height / 2);
  const auto at = static_cast<std::size_t>((static_cast<Index>(y) * still.width + x) * 4);
  const Rgba8 now = bench.ui->pixel(x, y);
  return now.r != still.rgba[at] || now.g != still.rgba[at + 1] || now.b != still.rgba[at + 2];
}

}  // namespace

TEST_CASE("a pinned scenario stands beside the present one, and a cell of any map is lit in all") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("step_bar/step/6").click("stage/view/Compare");
  // Until something is pinned there is something to compare with.
  CHECK(bench.selection().compare_with == CompareWith::one_wide_head);
  bench.state().document.comparison_targets.finish();
  bench.ui->run_frames(2);
  CHECK(bench.ui->has("stage/other"));
  const int begun = bench.state().document.comparison_targets.begun();
  bench.ui->key("P");
  REQUIRE(bench.ui->has("stage/difference"));
  bench.ui->key("C").run_frames(3);
  CHECK(bench.state().document.comparison_targets.begun() == begun);
  bench.ui->move_to("panel/graph");
  const Image still = bench.ui->pixels();
  for (const char* plane : {"stage/other", "stage/result", "stage/difference"}) {
    bench.ui->move_to(middle_of_cell(bench, plane, 7, 4));
    CHECK(bench.selection().hovered == CellRef{{TensorId::attn_weights}, {0, 0, 7, 4}});
    CHECK(bench.ui->has("stage/compare/values"));
    for (const char* each : {"stage/other", "stage/result", "stage/difference"})
      CHECK(outlined(bench, still, each, 7, 4));
  }
  bench.ui->click(middle_of_cell(bench, "stage/other", 3, 3));
  CHECK(bench.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 0, 3, 3}});
}

TEST_CASE("the difference on the screen has the colour of now − pinned") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("step_bar/step/8").key("End").key("P");
  const TensorPtr before = bench.trace().tensors.output;
  bench.ui->key("M").click("stage/view/Compare").move_to("panel/graph");
  const TensorPtr after = bench.trace().tensors.output;
  double most = 0.0;
  for (Index i = 0; i < after->size(); ++i) most = std::max(most, std::abs(after->flat(i) - before->flat(i)));
  REQUIRE(most > 0.0);
  Index checked = 0;
  for (Index i = 0; i < after->size(); i += 7) {
    const RectF cell = cell_of(bench, "stage/difference", 12, 128, i / 128, i % 128);
    const Rgba8 drawn =
        bench.ui->pixel(static_cast<int>(cell.x + cell.width / 2), static_cast<int>(cell.y) + 1);
    const Rgba8 expected = color_at(after->flat(i) - before->flat(i), {-most, most},
                                    color_table(ColorMap::blue_orange, Theme::dark));
    const bool near = std::abs(drawn.r - expected.r) <= 1 && std::abs(drawn.g - expected.g) <= 1 &&
                      std::abs(drawn.b - expected.b) <= 1;
    if (!near) FAIL_CHECK("cell " << i / 128 << "," << i % 128 << " has another colour");
    ++checked;
  }
  CHECK(checked > 200);
}

TEST_CASE("ready-made comparisons are computed while the view is shown, and not before or after") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  const auto begun = [&] { return bench.state().document.comparison_targets.begun(); };
  bench.ui->click("step_bar/step/6").key("C");
  CHECK(begun() == 0);
  bench.ui->click("stage/view/Compare").run_frames(3);
  CHECK(begun() == 1);  // one wide head comes first
  for (const char* with : {"packed", "one wide head", "as 3", "as 3·H", "no scale", "no mask"}) {
    const int before = begun();
    bench.ui->click(fmt::format("stage/beside/{}", with)).run_frames(3);
    INFO(with);
    CHECK(begun() == before + 1);
    CHECK(bench.ui->has("stage/difference"));
  }
  const int shown = begun();
  bench.ui->key("C");  // an edit: the other side follows
  bench.ui->run_frames(3);
  CHECK(begun() == shown + 1);
  bench.ui->click("stage/view/One head").key("C").run_frames(3);
  CHECK(begun() == shown + 1);
}

TEST_CASE("shapes that differ are shown side by side, without a difference and without a crash at any step") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.ui->key("P").click("stage/view/Compare");
  Scenario other = bench.scenario();
  other.inputs.text = "Two words more";
  other.attention.num_heads = 4;
  bench.session().edit(other, "another");
  bench.ui->run_frames(3);
  for (std::size_t step = 0; step < shown_steps({}).size(); ++step) {
    bench.ui->click(fmt::format("step_bar/step/{}", step)).run_frames(2);
    INFO(step);
    bench.ui->check_shown({"stage/other", "stage/result"});
    CHECK_FALSE(bench.ui->has("stage/difference"));
    const UiRect there = bench.ui->rect("stage/other");
    bench.ui->move_to(there.max.x - 2, there.max.y - 2);  // a cell that the present map does not have
    CHECK(bench.ui->has("stage/compare/values"));
  }
  for (const auto& [width, height] : {std::pair(640, 400), std::pair(300, 200), std::pair(1, 1)})
    bench.ui->resize(width, height).run_frames(2);
}

TEST_CASE("over narrow maps the names of both sides lose whole words, and keep their number") {
  const auto titles = [](int width, CompareWith with, bool unscaled) {
    Scenario scenario = preset_scenario("welcome");
    scenario.mask.is_causal = true;
    if (unscaled) scenario.attention.scale = 1.0;
    WindowBench bench = open_window(width, 720, scenario);
    std::vector<std::string> said;
    if (!bench.ui) return said;
    bench.selection().step = Step::softmax;
    bench.selection().view = StageView::compare;
    bench.selection().compare_with = with;
    bench.ui->run_until_still();
    for (const std::string& text : bench.ui->said("")) {
      CHECK_FALSE((text.find("…") != std::string::npos && text.find("now") != std::string::npos));
      if (text.find("scale") != std::string::npos || text.find("mask") != std::string::npos)
        said.push_back(text);
    }
    return said;
  };
  const auto has = [](const std::vector<std::string>& said, const std::string& text) {
    return std::ranges::find(said, text) != said.end();
  };
  const std::vector<std::string> masks = titles(1000, CompareWith::mask, false);
  if (masks.empty()) return;
  CHECK(has(masks, "now − no mask"));
  const std::vector<std::string> scales = titles(1000, CompareWith::scale, true);
  CHECK(has(scales, "now − scale 0.25"));
  CHECK(has(scales, "with the scale 0.25"));  // the tensor is named below the maps
  CHECK(has(titles(1600, CompareWith::mask, false), "now − without a mask"));
}

TEST_CASE("maps of a comparison stay inside their area, in one size, and wide ones lie under each other") {
  const RectF area{10, 20, 600, 400};
  for (const Index cols : {Index{1}, Index{12}, Index{128}, Index{4096}}) {
    const std::vector<LabelledShape> shapes(3, LabelledShape{12, cols, 60, cols == 12 ? 50.0 : 0.0});
    const CompareLayout layout = compare_layout(shapes, area, 1.0);
    INFO(cols);
    REQUIRE(layout.places.size() == 3);
    CHECK(layout.stacked == (cols > 12));
    for (const ComparePlace& place : layout.places) {
      CHECK(place.map.x >= area.x);
      CHECK(place.map.y >= area.y);
      CHECK(place.map.x + place.map.width <= area.x + area.width + 0.01);
      CHECK(place.map.y + place.map.height <= area.y + area.height + 0.01);
      CHECK(place.map.width == doctest::Approx(layout.places[0].map.width));
      CHECK(place.map.height == doctest::Approx(layout.places[0].map.height));
    }
  }
  CHECK(compare_layout(std::vector<LabelledShape>(3, LabelledShape{12, 12, 0, 0}), {0, 0, 40, 30}, 1.0)
            .places.empty());
}
