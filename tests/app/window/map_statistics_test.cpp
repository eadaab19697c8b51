// What the inspector says of a whole map, and what the legends say of cells without a colour.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

#include "app/content/map_figures.h"
#include "core/attention/blocked_cells.h"
#include "core/export/number_text.h"
#include "tests/app/window/answers_bench.h"

using namespace headwise;

namespace {

constexpr const char* veiled_softmax = R"({ "headwise_playlist": 1, "pages": [
  { "scenario": "hand_made", "step": "softmax", "pin": {"tensor": "attn_weights", "index": [0, 0, 8, 7]}, "veil": true,
    "ask": "How much?", "caption": "{attn_weights[0,0,8,7]}.", "answer": {"kind": "number", "is": "attn_weights[0,0,8,7]"} } ] })";

void turn_causal(WindowBench& bench) {
  bench.ui->move_to(5, 5).key("C").run_until_still();
}

void check_free_of_captions(const WindowBench& bench, const UiRect& legend) {
  for (const std::string& name : bench.ui->names()) {
    if (!name.starts_with("color_bar/")) continue;
    CAPTURE(name);
    const UiRect caption = bench.ui->rect(name);
    const bool beside = caption.max.x <= legend.min.x || legend.max.x <= caption.min.x;
    CHECK((beside || caption.max.y <= legend.min.y || legend.max.y <= caption.min.y));
  }
}

}  // namespace

TEST_CASE("a map in numbers: blocked cells are left out, NaN and −∞ are counted") {
  const double inf = INFINITY;
  const auto values = std::make_shared<const Tensor>(Shape{{"L", 2}, {"S", 4}},
                                                     std::vector<double>{1, 3, -inf, NAN, 0.5, 9, 5, -inf});
  const auto mask = std::make_shared<const Tensor>(Shape{{"L", 2}, {"S", 4}},
                                                   std::vector<double>{0, 0, -inf, -inf, 0, -inf, 0, 0});
  const CellStatistics all = cell_statistics(matrix_view(values), std::nullopt);
  CHECK(all.open == 8);
  CHECK(all.minus_infs == 2);
  CHECK(all.nans == 1);
  CHECK(all.largest == 9.0);
  CHECK(all.place == std::pair<Index, Index>{1, 1});
  const CellStatistics open = cell_statistics(matrix_view(values), matrix_view(mask));
  CHECK(open.cells == 8);
  CHECK(open.open == 5);
  CHECK(open.nans == 1);
  CHECK(open.minus_infs == 1);
  CHECK(open.finite == 4);
  CHECK(open.mean == doctest::Approx(9.5 / 4));
  CHECK(open.largest == 5.0);
  CHECK(open.place == std::pair<Index, Index>{1, 2});
  CHECK(open.deviation == doctest::Approx(std::sqrt((1 + 9 + 0.25 + 25) / 4.0 - 2.375 * 2.375)));
}

TEST_CASE("the inspector has the map's statistics beside the row's, and counts what the mask leaves open") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1400));
  bench.selection().step = Step::softmax;
  turn_causal(bench);
  CHECK(bench.ui->has("inspector/map"));
  const Index L = bench.trace().tensors.attn_weights->shape().size(2);
  CHECK(bench.ui->has("says/open cells: " + std::to_string(L * (L + 1) / 2) + " of " + std::to_string(L * L)));
  bench.selection().step = Step::scores;
  bench.ui->run_frames(3);
  CHECK(bench.ui->has("says/open cells: " + std::to_string(L * L) + " of " + std::to_string(L * L)));
}

TEST_CASE("the statistics of the map are those of the head that the stage shows, for key/value heads too") {
  for (const char* preset : {"random", "grouped_query"}) {
    CAPTURE(preset);
    WINDOW_OR_SKIP(bench, open_unpainted(1600, 1400, preset_scenario(preset)));
    Selection& selection = bench.selection();
    selection.step = Step::split_heads;
    selection.head = 3;
    for (const TensorId id : {TensorId::q_heads, TensorId::k_heads, TensorId::v_heads}) {
      selection.tensor = id;
      bench.ui->run_until_still();
      const TraceTensors& t = bench.trace().tensors;
      const TensorPtr& heads = id == TensorId::q_heads   ? t.q_heads
                               : id == TensorId::k_heads ? t.k_heads
                                                         : t.v_heads;
      const Index shown = 3 * heads->shape().size(1) / bench.trace().options.num_heads;
      const std::array<Index, 2> place{0, shown};
      const CellStatistics map = cell_statistics(matrix_view(heads, place), std::nullopt);
      const auto largest = bench.ui->said("largest: ");
      REQUIRE(largest.size() >= 1);
      CHECK_MESSAGE(largest.front().starts_with(decimal_text(map.largest, 4)), largest.front());
    }
  }
}

TEST_CASE("one number stands in every place of a screen that has it, under every mask") {
  using Change = void (*)(MaskSpec&);
  constexpr Change masks[] = {[](MaskSpec&) {},
                              [](MaskSpec& mask) { mask.valid_lens.emplace(1, std::vector<std::int64_t>{5}); },
                              [](MaskSpec& mask) {
                                mask.is_causal = true;
                                mask.causal_alignment = CausalAlignment::bottom_right;
                                mask.sliding_window = 4;
                              },
                              [](MaskSpec& mask) {
                                mask.valid_lens.emplace(1, std::vector<std::int64_t>{5});
                                mask.value = -1e9;
                              }};
  for (const char* preset : {"random", "grouped_query", "cross_attention"}) {
    for (const Change change : masks) {
      // One query: the row is the map, and the mean over rows.
      Scenario scenario = preset_scenario(preset);
      scenario.inputs.source = InputSource::text;
      scenario.inputs.text = "it";
      scenario.inputs.key_text = "the animal did not cross the street";
      scenario.inputs.self_attention = false;
      scenario.parameters.source = ParameterSource::random;
      scenario.mask = {};
      change(scenario.mask);
      WINDOW_OR_SKIP(bench, open_unpainted(1600, 1400, scenario));
      CAPTURE(preset);
      Selection& selection = bench.selection();
      selection.step = Step::softmax;
      selection.view = StageView::all_heads;
      for (const Index head : {0, 3}) {
        selection.head = head;
        selection.pinned = CellRef{{TensorId::attn_weights}, {0, head, 0, 1}};
        bench.ui->run_until_still();
        const auto entropy = bench.ui->said("entropy: ");  // without, and with its remark
        REQUIRE(entropy.size() == 2);
        CHECK(bench.ui->has("says/entropy " + entropy.back()));  // over the head's map
        CHECK(bench.ui->said("open cells: ").size() == 1);
        const auto deviation = bench.ui->said("standard deviation: ");  // of the map and, shorter, of the row
        REQUIRE(!deviation.empty());
        CHECK(std::abs(std::stod(deviation.front()) - std::stod(deviation.back())) <= 0.005);
        const double open = static_cast<double>(open_keys(bench.trace(), 0, head, 0));
        const double mean = std::stod(bench.ui->said("mean: ").front());
        CHECK(mean * open == doctest::Approx(std::stod(bench.ui->said("sum: ").front())).epsilon(0.01));
      }
    }
  }
}

TEST_CASE("what a row says is of the cells that the mask leaves open, as what the map says") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1400));
  Selection& selection = bench.selection();
  selection.step = Step::softmax;
  turn_causal(bench);
  selection.pinned = CellRef{{TensorId::attn_weights}, {0, 0, 4, 3}};
  bench.ui->run_until_still();
  const Index L = bench.trace().tensors.attn_weights->shape().size(2);
  bench.ui->check_shown(
      {"says/open cells: 5 of " + std::to_string(L),
       "says/open cells: " + std::to_string(L * (L + 1) / 2) + " of " + std::to_string(L * L)});
  REQUIRE(bench.ui->said("entropy: ").size() == 2);
  CHECK(bench.ui->said("entropy: ").back().ends_with(" of 1.61"));  // ln 5
  selection.pinned = CellRef{{TensorId::masked_scores}, {0, 0, 4, 3}};
  selection.step = Step::mask;
  bench.ui->run_until_still();
  CHECK(bench.ui->has("says/open cells: 5 of " + std::to_string(L)));
}

TEST_CASE("nothing is said of a map while a page's veil hides it") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 1200, veiled_softmax));
  bench.ui->run_until_still();
  REQUIRE(bench.ui->has("stage/veil"));
  CHECK_FALSE(bench.ui->has("inspector/map"));
  bench.ui->move_to("stage/left");
  CHECK(bench.ui->has("inspector/map"));  // of the scores, which are in sight
}

TEST_CASE("what blocked cells mean stands beside the words of a colour bar, not over them") {
  for (const auto& [width, height] : {std::pair{1600, 1000}, {1280, 720}, {1100, 700}}) {
    WINDOW_OR_SKIP(bench, open_unpainted(width, height));
    turn_causal(bench);
    CAPTURE(width);
    for (const auto& [step, name] :
         {std::pair{Step::mask, "stage/legend/blocked: −∞"}, {Step::softmax, "stage/legend/blocked"}}) {
      CAPTURE(name);
      bench.show(step);
      REQUIRE(bench.ui->has(name));
      check_free_of_captions(bench, bench.ui->rect(name));
    }
  }
}

TEST_CASE("every view with blocked cells says what they are, and none without") {
  for (const auto& [width, height] : {std::pair{1600, 1000}, {1280, 720}}) {
    WINDOW_OR_SKIP(bench, open_unpainted(width, height));
    CAPTURE(width);
    Selection& selection = bench.selection();
    selection.step = Step::softmax;
    for (const StageView view : {StageView::all_heads, StageView::compare, StageView::gradients}) {
      CAPTURE(static_cast<int>(view));
      selection.view = view;
      selection.compare_with = CompareWith::mask;
      bench.ui->run_until_still();
      const bool both = view == StageView::compare;  // the other side has a causal mask
      if (!both) CHECK_FALSE(bench.ui->has("stage/legend/blocked"));
    }
    turn_causal(bench);
    for (const StageView view : {StageView::all_heads, StageView::compare, StageView::gradients}) {
      CAPTURE(static_cast<int>(view));
      selection.view = view;
      bench.ui->run_until_still();
      const UiRect stage = bench.ui->rect("panel/stage"), legend = bench.ui->rect("stage/legend/blocked");
      CHECK(legend.max.x <= stage.max.x);
      CHECK(legend.max.y <= stage.max.y);
      check_free_of_captions(bench, legend);
    }
  }
}

TEST_CASE("in q ∘ k a blocked key has a × where its weight would stand") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000));
  Selection& selection = bench.selection();
  selection.step = Step::softmax;
  selection.view = StageView::elementwise;
  bench.ui->run_until_still();
  CHECK_FALSE(bench.ui->has("says/×"));
  turn_causal(bench);
  CHECK(bench.ui->has("says/×"));
}

TEST_CASE("the legend beside a pinned result follows the present one") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000));
  bench.selection().step = Step::softmax;
  bench.ui->move_to(5, 5).key("P");
  bench.selection().view = StageView::compare;
  bench.ui->run_until_still();
  CHECK_FALSE(bench.ui->has("stage/legend/blocked"));
  turn_causal(bench);  // the pinned map stays the same
  CHECK(bench.ui->has("stage/legend/blocked"));
  turn_causal(bench);
  CHECK_FALSE(bench.ui->has("stage/legend/blocked"));
}
