// What someone who has never seen the window is told, and that it goes once it was done.
#include "app/content/stage_content.h"
#include "app/session/head_gains.h"
#include "app/widgets/axis_labels.h"
#include "core/scenario/presets.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("the window says what to do first until it was done, and a command says it again") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000));
  CHECK(bench.ui->has("first_steps"));
  bench.ui->key("Right");
  CHECK(bench.state().view.first_steps.stepped);
  CHECK_FALSE(bench.state().view.first_steps.pinned);
  bench.ui->run_until_still().click("stage/result");
  CHECK(bench.state().view.first_steps.pointed);
  CHECK(bench.state().view.first_steps.pinned);
  CHECK(bench.ui->has("first_steps"));
  bench.ui->key("C").key("M");
  CHECK(bench.ui->has("first_steps"));  // an edit, but no sentence
  bench.ui->click("setup/text").type("s").key("Escape").run_frames(2);
  CHECK_FALSE(bench.ui->has("first_steps"));
  CHECK_FALSE(bench.state().view.settings.first_steps);
  bench.ui->click("menu/Help").click("menu/First steps").move_to(2, 500);
  CHECK(bench.ui->has("first_steps"));
}

TEST_CASE("the first steps say where to ask, and let the operator's name go for it") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  CHECK(bench.ui->has("first_steps/questions"));
}

TEST_CASE("a wide window's first steps say how to watch heads learn") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000));
  CHECK(bench.ui->has("first_steps/training"));
}

TEST_CASE("a window too narrow for the first steps leaves them out") {
  WINDOW_OR_SKIP(bench, open_unpainted(640, 700));
  CHECK_FALSE(bench.ui->has("first_steps"));
}

TEST_CASE("a character without a picture is named by its number") {
  WINDOW_OR_SKIP(bench, open_unpainted(640, 480));
  const ImFont* font = bench.ui->fonts().sans;
  CHECK(drawable_text("street", font) == "street");
  CHECK(drawable_text("😀", font) == "U+1F600");
  CHECK(drawable_text("a😀b", font) == "a U+1F600b");
  CHECK(drawable_text("été", font) == "été");
  CHECK(drawable_text("", font).empty());
  CHECK_LACKS(drawable_text("❤️", font), "U+FE0F");
}

TEST_CASE("a solo head keeps the colours of all of them") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000));
  ValueRanges ranges;
  const auto range_of_concat = [&] {
    Selection place;
    place.step = Step::concat;
    return stage_content(bench.trace(), bench.session().inputs().labels, place, Theme::dark, ranges)
        .result->spec.range;
  };
  bench.selection().step = Step::concat;
  bench.selection().head = 6;
  const ValueRange before = range_of_concat();
  bench.ui->key("S");
  CHECK(head_gain_of(bench.scenario(), 0) == 0.0);
  CHECK(range_of_concat() == before);
  bench.ui->key("S");
  CHECK(range_of_concat() == before);
}

TEST_CASE("a preset that names a weight opens where it shows what it is about; Space plays the way there") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000));
  WindowState& state = bench.state();
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    state.document.session.open(preset_scenario(preset.name), "open");
    state.document.session.finish();
    const Selection look = place_of_preset(preset, {});
    CHECK(look.head == preset.head);
    CHECK(look.step == (preset.weight ? Step::softmax : Step::inputs));
    CHECK(selection_within(look, state.document.session.trace()) == look);
    if (!preset.weight) continue;
    // The largest weight of its row by far.
    REQUIRE(look.pinned);
    const auto& at = look.pinned->index;
    const Tensor& weights = *state.document.session.trace().tensors.attn_weights;
    const Index keys = weights.shape().size(3);
    CHECK(weights.flat(((at[0] * weights.shape().size(1) + at[1]) * weights.shape().size(2) + at[2]) * keys +
                       at[3]) > 0.9);
  }
  const Preset& welcome = presets().front();
  state.document.session.open(preset_scenario(welcome.name), "open");
  state.document.session.finish();
  state.view.selection = place_of_preset(welcome, state.view.selection);
  state.view.opened_on_result = true;
  bench.ui->run_frames(2).key("Space");
  CHECK(state.view.steps.playing);
  CHECK(state.view.selection.step == Step::inputs);
  for (int i = 0; i < 8; ++i) bench.ui->run_frames(1, seconds_per_step);
  CHECK(state.view.selection.step > Step::project);
  CHECK_FALSE(state.view.opened_on_result);
}

TEST_CASE("Space walks gradients backwards, from the output to the inputs") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000));
  Selection& selection = bench.selection();
  selection.view = StageView::gradients;
  selection.step = Step::output;
  bench.ui->run_frames(2).key("Space");
  CHECK(bench.state().view.steps.playing);
  bench.ui->run_frames(2, seconds_per_step);
  CHECK(bench.selection().step < Step::output);
  for (int i = 0; i < 24; ++i) bench.ui->run_frames(1, seconds_per_step);
  CHECK(bench.selection().step == Step::inputs);
  CHECK_FALSE(bench.state().view.steps.playing);
}

TEST_CASE("blocked cells are explained beside the colours") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000));
  bench.selection().step = Step::mask;
  bench.ui->run_frames(2);
  CHECK_FALSE(bench.ui->has("stage/legend/blocked: −∞"));
  bench.ui->key("C").run_until_still();
  CHECK(bench.ui->has("stage/legend/blocked: −∞"));
  CHECK(bench.ui->has("digits/mask_bias"));  // 0 and −∞
  bench.show(Step::softmax);
  CHECK(bench.ui->has("stage/legend/blocked"));  // their weight is 0
}

TEST_CASE("after the first steps one suggestion takes their place, each until it was tried or dismissed") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000));
  WindowView& view = bench.state().view;
  CHECK_FALSE(bench.ui->has("suggestion"));
  view.settings.first_steps = false;
  bench.ui->run_frames(2);
  const auto suggested = [&] { return view.suggestion.suggestion; };
  REQUIRE(bench.ui->has("suggestion"));
  CHECK(suggested() == Suggestion::ask);
  bench.ui->key("Right").run_until_still();
  CHECK(suggested() == Suggestion::timeline);
  bench.ui->click("suggestion/dismiss");
  CHECK(suggested() == Suggestion::train);
  bench.ui->click("stage/result");
  CHECK(suggested() == Suggestion::all_the_way);
  bench.ui->click("suggestion");  // does it
  CHECK(bench.selection().all_the_way);
  CHECK(suggested() == Suggestion::spotlight);
  bench.ui->key("L");  // by its key
  CHECK(bench.selection().spotlight);
  CHECK(suggested() == Suggestion::train);
  bench.ui->key("N").key("Escape").run_frames(2);
  CHECK(suggested() == Suggestion::ask);
  bench.ui->key("M");
  CHECK(suggested() == Suggestion::is_it_the_same);
  // Help, First steps begins anew.
  bench.ui->click("menu/Help").click("menu/First steps");
  CHECK(view.settings.suggestions_done.none());
}
