// The ways to look at the stage: each can be chosen, shows something of its own,
// and names cells under the mouse.
#include <doctest/doctest.h>

#include <set>

#include "app/content/stage_views.h"
#include "tests/app/window_bench.h"

using namespace headwise;

TEST_CASE("A goes through the views, each of them another picture, and round again") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->click("step_bar/step/6").run_frames(3);
  std::set<std::vector<std::uint8_t>> pictures;
  for (int i = 0; i < stage_view_count - 1; ++i) {  // Prediction wants a model
    pictures.insert(bench.ui->pixels().rgba);
    bench.ui->key("A").run_frames(3);
  }
  CHECK(pictures.size() == stage_view_count - 1);
  CHECK(bench.selection().view == StageView::one_head);
}

TEST_CASE("in the view of tokens the mouse on a query names its strongest key, and a click pins the pair") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("stage/view/Tokens");
  const UiRect queries = bench.ui->rect("stage/queries");
  const float row = (queries.max.y - queries.min.y) / 12;
  bench.ui->click(queries.max.x - 20, queries.min.y + 8.5f * row);
  REQUIRE(bench.selection().pinned);
  CHECK(bench.selection().pinned->tensor.id == TensorId::attn_weights);
  CHECK(bench.selection().pinned->index[2] == 8);
  const Index key = bench.selection().pinned->index[3];
  for (Index other = 0; other < 12; ++other) {
    CHECK(bench.trace().tensors.attn_weights->at({0, 0, 8, other}) <=
          bench.trace().tensors.attn_weights->at({0, 0, 8, key}));
  }
  // With a query pinned, a key names the pair.
  const UiRect keys = bench.ui->rect("stage/keys");
  bench.ui->move_to(keys.min.x + 20, keys.min.y + 3.5f * row);
  REQUIRE(bench.selection().hovered);
  CHECK(bench.selection().hovered->index == std::vector<Index>{0, 0, 8, 3});
  const Image few = bench.ui->pixels();
  bench.ui->click("stage/share/all");
  CHECK(bench.ui->pixels().rgba != few.rgba);
}

TEST_CASE("in the view of q ∘ k the query is chosen, and its figures are cells of the trace") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("stage/view/q∘k").click("stage/query/forward").click("stage/query/forward");
  const UiRect weights = bench.ui->rect("stage/figure/attn_weights");
  const float row = (weights.max.y - weights.min.y) / 12;
  bench.ui->move_to(0.5f * (weights.min.x + weights.max.x), weights.min.y + 4.5f * row);
  REQUIRE(bench.selection().hovered);
  CHECK(bench.selection().hovered->tensor.id == TensorId::attn_weights);
  CHECK(bench.selection().hovered->index == std::vector<Index>{0, 0, 2, 4});
}

TEST_CASE("in the view of q ∘ k no heading stands over figures that have no room") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  bench.ui->click("stage/view/q∘k");
  CHECK(bench.ui->has("stage/figure/scores"));
  bench.state().view.settings.font_scale = 1.5f;
  bench.ui->resize(1280, 520).run_until_still();
  CHECK(bench.ui->has("stage/figure/attn_weights"));  // its bars need no digits
  CHECK_FALSE(bench.ui->has("stage/figure/scores"));
}

TEST_CASE("a mask of nothing but 0 and −inf is shown at every head, without colours to explain") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("C");
  bench.selection().tensor = TensorId::mask_bias;
  bench.selection().view = StageView::all_heads;
  bench.ui->run_frames(3);
  CHECK(bench.ui->has("stage/map/7"));
}

TEST_CASE("Q turns the maps of queries and keys in every view, the cell under the mouse is still its cell") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->rasterise(false).key("C");
  for (std::size_t step = 0; step < shown_steps({}).size(); ++step) {
    bench.ui->click("step_bar/step/" + std::to_string(step));
    for (int view = 0; view < stage_view_count - 1; ++view) {  // Prediction wants a model
      bench.ui->key("Q").run_frames(2).key("Q").key("A");
    }
  }
  bench.ui->click("step_bar/step/6").run_frames(70).key("Q");
  CHECK(bench.selection().queries_as_columns);
  bench.ui->move_to(middle_of_cell(bench, "stage/result", 2, 8));  // query 8, key 2
  CHECK(bench.selection().hovered == CellRef{{TensorId::attn_weights}, {0, 0, 8, 2}});
  bench.ui->click("stage/turn/rows");
  CHECK_FALSE(bench.selection().queries_as_columns);
}

TEST_CASE("over the maps of all heads stands what each does, where there is room") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("step_bar/step/6").click("stage/view/All heads");
  for (int head = 0; head < 8; ++head) CHECK(bench.ui->has("stage/head_words/" + std::to_string(head)));
  bench.ui->click("step_bar/step/2");  // q_heads are no attention
  CHECK_FALSE(bench.ui->has("stage/head_words/0"));
}

TEST_CASE("in the layout 3·H the projection is a small matrix for each head, and its cells are named") {
  Scenario scenario = preset_scenario("hand_made");
  scenario.parameters.layout = ProjectionLayout::per_head;
  WINDOW_OR_SKIP(bench, open_window(1600, 1000, scenario));
  bench.ui->click("step_bar/step/1").run_frames(70);
  for (int head = 0; head < 8; ++head) REQUIRE(bench.ui->has("stage/above/" + std::to_string(head)));
  const UiRect third = bench.ui->rect("stage/above/3");
  bench.ui->move_to(third.min.x + 1, third.min.y + 1);
  REQUIRE(bench.selection().hovered);
  CHECK(bench.selection().hovered->tensor.id == TensorId::q_proj_weight);
  CHECK(bench.selection().hovered->index == std::vector<Index>{48, 0});
  bench.ui->click("setup/layout/3").run_frames(3);
  CHECK_FALSE(bench.ui->has("stage/above/3"));
  bench.ui->check_shown({"stage/above", "setup/layout_differences"});
}

TEST_CASE("the softmax keeps its maximum's and its sum's numbers: turned, on a projector, in larger type") {
  for (const auto& [theme, scale] :
       {std::pair{Theme::dark, 1.0f}, {Theme::projector, 1.0f}, {Theme::dark, 1.375f}}) {
    WINDOW_OR_SKIP(bench, open_window(1280, 720));
    bench.state().view.settings.theme = theme;
    bench.state().view.settings.font_scale = scale;
    bench.selection().step = Step::softmax;
    bench.ui->run_frames(4);
    CAPTURE(scale);
    bench.ui->check_shown({"stage/softmax/max", "stage/softmax/sum"});
    const UiRect map = bench.ui->rect("stage/result"), sums = bench.ui->rect("stage/softmax/sum");
    CHECK(sums.min.y == map.min.y);
    CHECK(sums.max.x < map.min.x);
    bench.ui->key("Q").run_frames(4);
    CHECK(bench.ui->has("stage/softmax/max"));
    const UiRect turned = bench.ui->rect("stage/result"), over = bench.ui->rect("stage/softmax/sum");
    CHECK(over.min.x == turned.min.x);
    CHECK(over.max.x == turned.max.x);
    CHECK(over.max.y < turned.min.y);
  }
}

TEST_CASE("the sink's part of a row is pointed at and pinned as any cell is, turned too") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720, preset_scenario("sink")));
  bench.show(Step::softmax);
  for (const bool turned : {false, true}) {
    CAPTURE(turned);
    if (turned) bench.ui->key("Q").run_frames(4);
    const UiRect sink = bench.ui->rect("stage/sink"), map = bench.ui->rect("stage/result");
    CHECK(bench.ui->has("digits/sink_weights"));
    CHECK((turned ? sink.max.y < map.min.y && sink.min.x == map.min.x
                  : sink.max.x < map.min.x && sink.min.y == map.min.y));
    const Index query = turned ? 7 : 3;
    const float at = (float(query) + 0.5f) / 12;
    const float x = turned ? sink.min.x + at * (sink.max.x - sink.min.x) : 0.5f * (sink.min.x + sink.max.x);
    const float y = turned ? 0.5f * (sink.min.y + sink.max.y) : sink.min.y + at * (sink.max.y - sink.min.y);
    bench.ui->move_to(x, y);
    REQUIRE(bench.selection().hovered);
    CHECK(*bench.selection().hovered == CellRef{{TensorId::sink_weights}, {0, 0, query}});
    bench.ui->click(x, y);
    CHECK(bench.selection().pinned == bench.selection().hovered);
  }
  WINDOW_OR_SKIP(plain, open_window(1280, 720, preset_scenario("random")));
  plain.show(Step::softmax);
  CHECK_FALSE(plain.ui->has("stage/sink"));
}

TEST_CASE("a sink that is larger than every score gets no colour of a scale that ends below it") {
  for (const double sink : {1.5, 0.0}) {
    CAPTURE(sink);
    Scenario scenario = preset_scenario("sink");
    scenario.attention.sink.assign(8, sink);
    WINDOW_OR_SKIP(bench, open_window(1280, 720, scenario));
    bench.show(Step::softmax);
    const UiRect maxima = bench.ui->rect("stage/softmax/max");
    const Rgba8 corner = bench.ui->pixel(int(maxima.min.x) + 3, int(maxima.min.y) + 3);
    CHECK((corner == palette_of(Theme::dark).field) == (sink == 1.5));
  }
}

TEST_CASE("a letter lights its axis in every view, and so does the one behind a row of the setup") {
  for (const StageView view : {StageView::one_head, StageView::all_heads, StageView::tokens,
                               StageView::elementwise, StageView::memory}) {
    WINDOW_OR_SKIP(bench, open_window(1600, 1000));
    bench.selection().view = view;
    bench.selection().step = view == StageView::memory ? Step::split_heads : Step::scores;
    CAPTURE(stage_view_entry(view).name);
    // Left of the field, behind the name of the row, stands its letter.
    const UiRect field = bench.ui->rect("setup/num_heads");
    const double y = 0.5 * (field.min.y + field.max.y);
    bench.ui->move_to(2, 2);
    REQUIRE(bench.ui->becomes_still());
    const UiRect stage = bench.ui->rect("panel/stage");
    const Image before = bench.ui->pixels();
    for (double x = field.min.x - 4; x > 0 && bench.state().view.pointed.axis != "H"; x -= 4)
      bench.ui->move_to(x, y);
    REQUIRE(bench.state().view.pointed.axis == "H");
    REQUIRE(bench.ui->becomes_still());
    const Image after = bench.ui->pixels();
    const auto changed = [&] {
      for (int row = static_cast<int>(stage.min.y); row < static_cast<int>(stage.max.y); ++row) {
        for (int col = static_cast<int>(stage.min.x); col < static_cast<int>(stage.max.x); ++col) {
          const auto at = 4 * (static_cast<std::size_t>(row) * static_cast<std::size_t>(after.width) +
                               static_cast<std::size_t>(col));
          if (before.rgba[at] != after.rgba[at]) return true;
        }
      }
      return false;
    };
    CHECK(changed());
  }
}

TEST_CASE("in the views of tokens and of q ∘ k a tensor's name lights it") {
  for (const StageView view : {StageView::tokens, StageView::elementwise, StageView::memory}) {
    WINDOW_OR_SKIP(bench, open_window(1600, 1000));
    bench.selection().view = view;
    bench.selection().step = view == StageView::memory ? Step::split_heads : Step::softmax;
    bench.ui->run_frames(3);
    const UiRect stage = bench.ui->rect("panel/stage");
    const auto stage_pixels = [&] {
      const Image all = bench.ui->pixels();
      std::vector<std::uint8_t> part;
      for (int row = static_cast<int>(stage.min.y); row < static_cast<int>(stage.max.y); ++row) {
        const auto from = all.rgba.begin() + 4 * (row * all.width + static_cast<int>(stage.min.x));
        part.insert(part.end(), from, from + 4 * static_cast<int>(stage.max.x - stage.min.x));
      }
      return part;
    };
    bench.ui->move_to(2, 2);
    const auto before = stage_pixels();
    CAPTURE(stage_view_entry(view).name);
    bench.ui->move_to("graph/k_heads");
    const auto k = stage_pixels();
    bench.ui->move_to("graph/q_heads");
    const auto q = stage_pixels();
    if (view != StageView::memory) CHECK(k != before);
    CHECK(q != before);
    CHECK(q != k);
  }
}

TEST_CASE("all heads of a tensor that belongs to no head: one line says why there is one map") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.ui->click("stage/view/All heads");
  for (const Step step : shown_steps(bench.trace().options)) {
    bench.selection().step = step;
    bench.ui->run_frames(3).run_until_still();
    CAPTURE(static_cast<int>(step));
    CHECK(bench.ui->has("stage/no_heads") != bench.ui->has("stage/map/0"));
    if (!bench.ui->has("stage/no_heads")) continue;
    const UiRect note = bench.ui->rect("stage/no_heads"), map = bench.ui->rect("stage/result");
    CHECK(note.max.y <= map.min.y);
    CHECK(note.max.x <= bench.ui->rect("panel/stage").max.x);
  }
  CHECK(bench.ui->has("stage/no_heads"));  // the output
  bench.ui->click("stage/view/One head");
  CHECK_FALSE(bench.ui->has("stage/no_heads"));
}
