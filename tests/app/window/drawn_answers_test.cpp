// Answers that are drawn: a row of weights as bars, the blocked pairs of a mask,
// and a tensor that is clicked.
#include <algorithm>

#include "app/lesson/answer_kinds.h"
#include "app/window/frame_snapshot.h"
#include "app/window/page_turns.h"
#include "app/window/stage_pictures.h"
#include "app/window/window_commands.h"
#include "tests/app/window/answers_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

constexpr const char* drawing = R"({ "headwise_playlist": 1, "pages": [
  { "title": "Row", "scenario": "hand_made", "step": "softmax", "veil": true, "ask": "How much does each get?", "caption": "So much.",
    "answer": {"kind": "weights", "is": "attn_weights[0,0,8,:]"} },
  { "title": "Mask", "set": ["mask.is_causal=true"], "step": "mask", "veil": true, "ask": "Which are blocked?",
    "caption": "Those after it.", "answer": {"kind": "mask", "is": "mask_bias[0,0,0:3,:] = -inf"} },
  { "title": "Cut", "scenario": "hand_made", "step": "split_heads", "head": 1, "ask": "Which is cut?", "ask_step": "project",
    "caption": "The projection.", "answer": {"kind": "tensor", "options": [
      {"tensor": "query", "is": "difference q_heads[0,1,8,:] query[0,8,16:32] = 0", "why": "It is projected first."},
      {"tensor": "q", "is": "difference q_heads[0,1,8,:] q[0,8,16:32] = 0"}]} } ] })";

struct Drawing : Asked {
  explicit Drawing(std::size_t page, int width = 1280, int height = 720)
      : Asked(drawing, page, width, height) {
    if (bench.ui) ui().rasterise(true).run_frames(1);
  }
  PlaylistWalk::Given& given() { return walk().given; }
  // The middle of a bar's column at a weight.
  std::pair<double, double> place(int bar, double weight) {
    const UiRect chart = bench.ui->rect("caption/bars");
    return {chart.min.x + (bar + 0.5) * (chart.max.x - chart.min.x) / 12,
            chart.max.y - weight * (chart.max.y - chart.min.y)};
  }
  // The middle of a pair of the veiled map, or of the map once it is shown.
  std::pair<double, double> pair(int query, int key) {
    const UiRect map = bench.ui->rect(bench.ui->has("stage/veil") ? "stage/veil" : "stage/result");
    return {map.min.x + (key + 0.5) * (map.max.x - map.min.x) / 12,
            map.min.y + (query + 0.5) * (map.max.y - map.min.y) / 12};
  }
  void click_at(std::pair<double, double> at) { bench.ui->click(at.first, at.second); }
  void stroke(std::pair<double, double> from, std::pair<double, double> to, int steps = 8) {
    bench.ui->drag(from.first, from.second, to.first, to.second, steps);
  }
};

}  // namespace

TEST_CASE("a row of weights is drawn with the mouse, scaled to sum to 1, and stays beside the computed one") {
  BENCH_OR_SKIP(Drawing, asked, 0);
  UiDriver& ui = asked.ui();
  CHECK(ui.rect("caption/bars").max.y < ui.rect("panel/caption").max.y);
  ui.click("caption/give");  // nothing is drawn yet
  CHECK(asked.walk().asking());
  asked.click_at(asked.place(7, 0.5));
  REQUIRE(asked.given().weights.size() == 12);
  CHECK(asked.given().weights[7] == doctest::Approx(0.5).epsilon(0.03));
  // A fast stroke leaves no bar out.
  asked.stroke(asked.place(0, 0.25), asked.place(6, 0.25), 2);
  for (std::size_t bar = 0; bar <= 6; ++bar)
    CHECK(asked.given().weights[bar] == doctest::Approx(0.25).epsilon(0.06));
  CHECK(asked.given().weights[8] == 0.0);
  ui.save_png("weights-asking").click("caption/scale");
  double sum = 0.0;
  for (const double bar : asked.given().weights) sum += bar;
  CHECK(sum == doctest::Approx(1.0));
  ui.click("caption/give").run_until_still();
  CHECK_FALSE(asked.walk().asking());
  const std::string verdict = answer_verdict(asked.walk());
  CHECK(verdict.starts_with("You drew a row of weights; 0."));
  CHECK_CONTAINS(verdict, "the largest difference is at “because”: you drew 0.2");
  CHECK(verdict.ends_with("it is 0.90."));
  CHECK(ui.has("caption/bars"));
  CHECK(ui.rect("caption/words").max.y <= ui.rect("panel/caption").max.y);
  CHECK(ui.rect("caption/words").max.x <= ui.rect("caption/bars").min.x);
  ui.save_png("weights-answered");

  // The answer is kept while the playlist is walked, whichever way the page is come to,
  // and forgotten with it.
  ui.key("PageDown");
  CHECK(asked.walk().page == 1);
  ui.key("PageUp").run_until_still();
  CHECK(answer_verdict(asked.walk()) == verdict);
  show_page(asked.state(), 0);
  CHECK_FALSE(asked.walk().asking());
  toggle_walk(asked.state());
  toggle_walk(asked.state());
  CHECK(answer_verdict(asked.walk()) == verdict);
  start_walk(asked.state(), Playlist(asked.walk().playlist));
  CHECK(asked.walk().asking());
  CHECK(asked.given().weights.empty());
}

TEST_CASE("a row of weights is drawn with the keys alone, and going on gives it") {
  BENCH_OR_SKIP(Drawing, asked, 0);
  UiDriver& ui = asked.ui();
  ui.key("9");  // begins with the first bar
  ui.run_frames(2);
  CHECK(asked.given().weights[0] == 0.9);
  CHECK(asked.walk().asking());
  for (int down = 0; down < 18; ++down) ui.key("Down");
  CHECK(asked.given().weights[0] == 0.0);
  for (int right = 0; right < 7; ++right) ui.key("Right");
  ui.key("9").key("Shift+Up");
  CHECK(asked.given().weights[7] == doctest::Approx(0.91));
  ui.key("Left").key("Up");
  CHECK(asked.given().weights[6] == doctest::Approx(0.05));
  CHECK(asked.now().step == Step::softmax);
  ui.key("Enter").run_until_still();
  CHECK_FALSE(asked.walk().asking());
  CHECK(answer_verdict(asked.walk()).starts_with("You drew a row of weights: right, 0.0"));
  Drawing again(0);
  again.bench.ui->key("5").key("PageDown");
  CHECK_FALSE(answer_verdict(again.walk()).empty());
  Drawing without(0);
  without.bench.ui->key("5").run_frames(2).click("caption/answer");
  CHECK_FALSE(without.walk().asking());
  CHECK(answer_verdict(without.walk()).starts_with("The largest weight is "));
}

TEST_CASE("a mask is painted on the veiled map, which hides the page's own; wrong pairs are told, outlined") {
  BENCH_OR_SKIP(Drawing, asked, 1);
  UiDriver& ui = asked.ui();
  ui.check_shown({"stage/veil", "stage/left"});
  CHECK_FALSE(ui.has("stage/above"));
  CHECK(FrameSnapshot(asked.state()).veil->hides({TensorId::mask_bias}));
  CHECK_FALSE(std::ranges::any_of(ui.names(),
                                  [](const auto& name) { return name.find("brush") != std::string::npos; }));
  asked.click_at(asked.pair(5, 5));  // is not asked for
  CHECK_FALSE(asked.given().mask.touched);
  const Scenario before = asked.bench.scenario();
  asked.stroke(asked.pair(0, 1), asked.pair(0, 11), 3);
  asked.stroke(asked.pair(1, 2), asked.pair(1, 11), 3);
  asked.stroke(asked.pair(2, 2), asked.pair(2, 10), 3);
  CHECK(std::ranges::count(asked.given().mask.blocked, true) == 30);
  CHECK(asked.bench.scenario() == before);
  CHECK_FALSE(asked.now().pinned);
  ui.save_png("mask-asking").click("caption/give").run_until_still();
  CHECK(answer_verdict(asked.walk()) ==
        "You blocked 30 of 36 pairs; 2 are wrong, outlined on the map: 1 blocked pair is missed, 1 open pair "
        "is blocked.");
  ui.check_shown({"stage/wrong_pairs", "stage/above"});
  const auto outlined = [&](int query, int key) {
    const UiRect map = ui.rect("stage/result");
    const int x = static_cast<int>(asked.pair(query, key).first);
    const float top = map.min.y + static_cast<float>(query) * (map.max.y - map.min.y) / 12;
    const Rgba8 error = palette_of(asked.state().view.settings.theme).error;
    for (int y = static_cast<int>(top); y < static_cast<int>(top) + 6; ++y)
      if (ui.pixel(x, y) == error) return true;
    return false;
  };
  CHECK(outlined(2, 2));
  CHECK(outlined(2, 11));
  CHECK_FALSE(outlined(0, 5));
  ui.save_png("mask-answered");
}

TEST_CASE("a mask is painted with the keys alone") {
  BENCH_OR_SKIP(Drawing, asked, 1);
  UiDriver& ui = asked.ui();
  ui.key("Enter");  // the first cell
  for (int query = 0; query < 3; ++query) {
    ui.key("Home");
    for (int right = 0; right <= query; ++right) ui.key("Right");
    ui.hold("Space");
    for (int key = query + 1; key < 12; ++key) ui.key("Right");
    ui.release_key("Space").key("Down");
  }
  CHECK(asked.walk().asking());
  ui.key("PageDown").run_until_still();
  CHECK(answer_verdict(asked.walk()) == "You blocked 30 of 36 pairs: right.");
  CHECK_FALSE(asked.walk().asking());
}

TEST_CASE("where an edit leaves no mask to paint, the page says so, and judges no pair that nobody sees") {
  BENCH_OR_SKIP(Drawing, asked, 1);
  UiDriver& ui = asked.ui();
  const std::string gone =
      "your changes to this page leave no mask to paint; “Restore its settings” undoes them";
  const auto notes = [&] {
    std::string words;
    for (const Piece& piece : listed_pieces(asked.walk())) words += piece.text + "\n";
    return words;
  };
  asked.stroke(asked.pair(0, 1), asked.pair(0, 11), 3);
  const PlaylistWalk::Given painted = asked.given();
  CHECK_CONTAINS(notes(), "paint the blocked pairs on the map");
  ui.key("C").run_until_still();
  CHECK_CONTAINS(notes(), gone);
  CHECK_LACKS(notes(), "paint the blocked pairs");
  CHECK(ui.has("says/no mask to paint"));
  CHECK_FALSE(ui.has("caption/give"));
  ui.save_png("mask-gone");
  // With the page's settings its question is back, and what was painted.
  ui.key("C").run_until_still();
  CHECK(ui.has("caption/give"));
  CHECK(asked.given().mask.blocked == painted.mask.blocked);
  ui.key("C").run_until_still().key("PageDown").run_until_still();
  CHECK_FALSE(asked.walk().asking());
  CHECK_FALSE(asked.given().made);
  CHECK(answer_verdict(asked.walk()) == "");
}

TEST_CASE("what was painted and given is not counted once the page has no such mask") {
  BENCH_OR_SKIP(Drawing, asked, 1);
  asked.click_at(asked.pair(0, 3));
  asked.click("caption/give").key("C");
  CHECK(answer_verdict(asked.walk()) ==
        "You painted a mask. As the page is now, there is no mask of that size to compare yours with.");
}

TEST_CASE("while a mask is asked for, it is not copied either") {
  BENCH_OR_SKIP(Drawing, asked, 1);
  WindowState& state = asked.state();
  perform(state, CommandCall{CommandId::copy_mask});
  CHECK(state.view.notices.notices.back().text == "The page hides this map until its question is answered.");
  asked.ui().click("caption/answer");
  perform(state, CommandCall{CommandId::copy_mask});
  CHECK_CONTAINS(state.view.notices.notices.back().text, "Copied the mask");
}

TEST_CASE("that no pair is blocked is an answer, and showing the answer is none") {
  BENCH_OR_SKIP(Drawing, asked, 1);
  asked.ui().click("caption/give");
  CHECK(answer_verdict(asked.walk()) ==
        "You blocked 0 of 36 pairs; 30 are wrong, outlined on the map: 30 blocked pairs are missed.");
  Drawing other(1);
  other.click_at(other.pair(0, 3));
  other.bench.ui->click("caption/answer");
  CHECK(answer_verdict(other.walk()) == "30 of 36 pairs are blocked.");
}

TEST_CASE("a tensor is answered by its map, its name or its digit, and another one is no answer") {
  for (const char* way : {"map", "digit", "button", "name"}) {
    CAPTURE(way);
    BENCH_OR_SKIP(Drawing, asked, 2);
    UiDriver& ui = asked.ui();
    REQUIRE(asked.walk().asking());
    ui.click("stage/above");  // in_proj_weight
    CHECK(asked.walk().asking());
    if (way[0] == 'm') ui.click("stage/result");
    if (way[0] == 'd') ui.key("2");
    if (way[0] == 'b') ui.click("caption/option/2");
    if (way[0] == 'n') {
      Selection named = asked.now();
      named.tensor = TensorId::q;
      CHECK(answer_by_pointing(asked.state(), named));
    }
    ui.run_until_still();
    CHECK_FALSE(asked.walk().asking());
    CHECK(answer_verdict(asked.walk()) == "You chose 2, “q”: right.");
  }
  Drawing wrong(2);
  wrong.bench.ui->click("stage/left").run_until_still();
  CHECK(answer_verdict(wrong.walk()) ==
        "You chose 1, “query”: wrong. It is projected first. Answer: 2, “q”.");
}

TEST_CASE("a picture of the stage keeps the veil while a page asks, and has no word of the answer") {
  BENCH_OR_SKIP(Drawing, asked, 0);
  WindowState& state = asked.state();
  StagePictures pictures(1280, 720, Theme::light);
  const std::string question = pictures.svg(state);
  CHECK_CONTAINS(question, "How much does each get?");
  CHECK_CONTAINS(question, "hidden until you answer");
  CHECK_LACKS(question, "So much.");
  asked.key("PageDown");
  const std::string answer = pictures.svg(state);
  CHECK_CONTAINS(answer, "So much.");
  CHECK_LACKS(answer, "hidden");

  // Nothing in it depends on what is veiled, not even where the mask is asked for.
  asked.walk().from_program = true;  // beside a page of one's own stands what was changed on it
  asked.show(1);
  const Image veiled = pictures.image(state);
  Scenario other = asked.bench.scenario();
  other.mask.is_causal = false;
  other.mask.preset = "padding:3";
  state.document.session.edit(other, "another mask", false);
  asked.ui().run_until_still();
  CHECK(asked.walk().asking());
  CHECK((pictures.image(state).rgba == veiled.rgba));

  asked.show(2);
  const std::string options = pictures.svg(state);
  CHECK_CONTAINS(options, "1   query");
  CHECK_LACKS(options, "The projection.");
}

TEST_CASE("a row that was drawn with the mouse is submitted with Enter") {
  BENCH_OR_SKIP(Drawing, drawing, 0);
  drawing.stroke(drawing.place(6, 0.5), drawing.place(7, 0.8));
  drawing.ui().key("Enter");
  CHECK_FALSE(drawing.walk().asking());
  CHECK(drawing.given().made);
}

TEST_CASE("while a mask is asked for, the lines of code that would make it are not told") {
  BENCH_OR_SKIP(Drawing, drawing, 1, 1600, 1000);
  REQUIRE(drawing.walk().asking());
  CHECK_FALSE(drawing.ui().has("inspector/code/lines"));
  drawing.key("PageDown");
  CHECK(drawing.ui().has("inspector/code/lines"));
}
