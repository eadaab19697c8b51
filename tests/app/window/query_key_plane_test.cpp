// The Q–K plane: dragging an arrow asks what would be with another query; the scenario stays as it is.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "app/session/history.h"
#include "core/attention/query_key_plane.h"
#include "core/attention/score_path.h"
#include "core/export/number_text.h"
#include "core/lessons/query_row.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

WindowBench open_plane(const Scenario& scenario = preset_scenario("hand_made"), int width = 1600,
                       int height = 1000) {
  WindowBench bench = open_unpainted(width, height, scenario);
  if (!bench.ui) return bench;
  bench.selection().step = Step::softmax;
  bench.selection().view = StageView::query_key_plane;
  bench.ui->run_frames(3);
  return bench;
}

ImVec2 centre_of(const UiRect& rect) {
  return {0.5f * (rect.min.x + rect.max.x), 0.5f * (rect.min.y + rect.max.y)};
}

}  // namespace

TEST_CASE("dragging a query's arrow changes its scores by what the picture shows, and Reset returns it") {
  WINDOW_OR_SKIP(bench, open_plane());
  const Scenario before = bench.scenario();
  const ImVec2 tip = centre_of(bench.ui->rect("qk/tip"));
  CHECK_FALSE(bench.ui->has("qk/what_if"));
  bench.ui->drag(tip.x, tip.y, tip.x + 60, tip.y - 40);
  CHECK(std::abs(centre_of(bench.ui->rect("qk/tip")).x - tip.x - 60) <= 1.5f);
  CHECK(std::abs(centre_of(bench.ui->rect("qk/tip")).y - tip.y + 40) <= 1.5f);
  CHECK(bench.ui->has("qk/what_if"));

  // The same move, computed by the core from the trace; pixels per unit follow from where the keys are drawn.
  const Trace& trace = bench.trace();
  const auto numbers = [&](const Tensor& tensor) {
    std::vector<double> all;
    for (Index i = 0; i < tensor.shape().size(2) * tensor.shape().size(3); ++i) all.push_back(tensor.flat(i));
    return all;
  };
  const QueryKeyPlane plane =
      query_key_plane(numbers(*queries_of_scores(trace.tensors, trace.options)),
                      numbers(*keys_of_scores(trace.tensors, trace.options)), trace.options.head_dim);
  std::size_t low = 0, high = 0;
  for (std::size_t s = 1; s < 12; ++s) {
    if (plane.keys[s].x < plane.keys[low].x) low = s;
    if (plane.keys[s].x > plane.keys[high].x) high = s;
  }
  const auto drawn_at = [&](std::size_t key) {
    return static_cast<double>(centre_of(bench.ui->rect("qk/key/" + std::to_string(key))).x);
  };
  const double pixels = (drawn_at(high) - drawn_at(low)) / (plane.keys[high].x - plane.keys[low].x);
  const PlanePoint move{60.0 / pixels, 40.0 / pixels};
  const QueryRow row = query_row_with(trace, 0, 0, 0, moved_query(query_vector(trace, 0, 0, 0), plane, move));
  for (std::size_t s = 0; s < 12; ++s) {
    const double score = row.scores[s], was = trace.tensors.scores->at({0, 0, 0, static_cast<Index>(s)});
    bool said = false;
    for (const double off : {-0.02, -0.01, 0.0, 0.01, 0.02})
      said = said || bench.ui->has("says/" + decimal_text(score + off, 2));
    CAPTURE(score);
    CHECK(said);
    CHECK(std::abs(score - was - dot(move, plane.keys[s])) < 1e-3);
  }
  // A what-if is no edit.
  CHECK(bench.scenario() == before);
  CHECK_FALSE(bench.session().history().can_undo());
  bench.ui->click("stage/plane/reset");
  CHECK_FALSE(bench.ui->has("qk/what_if"));
  CHECK(std::abs(centre_of(bench.ui->rect("qk/tip")).x - tip.x) < 0.5f);
  CHECK(bench.ui->has("says/" + decimal_text(trace.tensors.scores->at({0, 0, 0, 3}), 2)));
}

TEST_CASE("a click on another arrow shows its query, a click on a key or on its row pins the pair") {
  WINDOW_OR_SKIP(bench, open_plane());
  // An arrow whose tip no other tip and no key covers.
  const auto lone = [&] {
    for (int l = 1; l < 12; ++l) {
      const ImVec2 at = centre_of(bench.ui->rect("qk/query/" + std::to_string(l)));
      const auto far_from = [&](const std::string& name) {
        const ImVec2 other = centre_of(bench.ui->rect(name));
        return std::hypot(other.x - at.x, other.y - at.y) > 14.0f;
      };
      bool alone = far_from("qk/tip");
      for (int i = 0; i < 12; ++i) {
        alone = alone && far_from("qk/key/" + std::to_string(i));
        if (i != l && i != 0) alone = alone && far_from("qk/query/" + std::to_string(i));
      }
      if (alone) return l;
    }
    return -1;
  }();
  if (lone > 0) {
    bench.ui->click("qk/query/" + std::to_string(lone));
    CHECK_FALSE(bench.ui->has("qk/what_if"));
    CHECK_FALSE(bench.selection().pinned);
  }
  bench.ui->click("qk/row/5");
  REQUIRE(bench.selection().pinned);
  CHECK(bench.selection().pinned->tensor == TensorName{TensorId::attn_weights});
  CHECK(bench.selection().pinned->index == std::vector<Index>{0, 0, lone > 0 ? lone : 0, 5});
}

TEST_CASE("the keyboard alone chooses a query and moves its arrow") {
  WINDOW_OR_SKIP(bench, open_plane());
  const FocusOrder& focus = bench.state().view.focus;
  const UiRect plane = bench.ui->rect("stage/plane");
  bool reached = false;
  for (int i = 0; i < 200 && !reached; ++i) {
    bench.ui->key("Tab");
    reached = focus.ring && std::abs(focus.ring_min.x - plane.min.x) < 2 &&
              std::abs(focus.ring_max.y - plane.max.y) < 2;
  }
  REQUIRE(reached);
  bench.ui->key("Right").key("Down");
  const std::string third = "says/query " + bench.session().inputs().labels.query[2];
  CHECK(bench.ui->has(third));
  CHECK(bench.selection().step == Step::softmax);
  const ImVec2 tip = centre_of(bench.ui->rect("qk/tip"));
  bench.ui->hold("Shift").key("Right").key("Up").release_key("Shift");
  CHECK(bench.ui->has(third));
  CHECK(centre_of(bench.ui->rect("qk/tip")).x > tip.x + 4);
  CHECK(centre_of(bench.ui->rect("qk/tip")).y < tip.y - 4);
  CHECK(bench.ui->has("qk/what_if"));
}

TEST_CASE("an edit that changes q or k drops the moved arrows, one that changes the mask does not") {
  WINDOW_OR_SKIP(bench, open_plane());
  const ImVec2 tip = centre_of(bench.ui->rect("qk/tip"));
  bench.ui->drag(tip.x, tip.y, tip.x + 30, tip.y - 30);
  bench.ui->key("C");                                                  // causal
  bench.ui->check_shown({"qk/what_if", "says/masked", "says/1.000"});  // the first query sees itself alone
  Scenario other = bench.scenario();
  other.inputs.text = "the cat sat on the mat";
  bench.session().edit(other, "text", false);
  bench.ui->run_frames(3);
  CHECK_FALSE(bench.ui->has("qk/what_if"));
  CHECK(bench.ui->has("qk/key/5"));
  CHECK_FALSE(bench.ui->has("qk/key/6"));
}

TEST_CASE("every kind of scenario is drawn in the plane or said in a sentence") {
  Scenario plain = preset_scenario("random");
  Scenario one = plain;
  one.inputs.source = InputSource::random;
  one.inputs.query_length = 1;
  Scenario operator_alone = one;
  operator_alone.op = Op::scaled_dot_product_attention;
  operator_alone.inputs.query_length = 7;
  Scenario zeros = one;
  zeros.parameters.source = ParameterSource::random;
  zeros.attention.scale = 0.0;
  Scenario not_numbers = operator_alone;
  not_numbers.edits = {{"query", {0, 0, 3, 0}, NAN}};
  struct Case {
    Scenario scenario;
    bool drawn;
  };
  for (const Case& each : {Case{plain, true},
                           {one, true},
                           {operator_alone, true},
                           {zeros, true},
                           {not_numbers, false},
                           {preset_scenario("grouped_query"), true},
                           {preset_scenario("cross_attention"), true}}) {
    for (const auto& [width, height] : {std::pair{1600, 1000}, {1280, 720}}) {
      WINDOW_OR_SKIP(bench, open_plane(each.scenario, width, height));
      bench.session().finish();
      bench.ui->run_frames(3);
      CHECK(bench.ui->has("stage/plane") == each.drawn);
      if (!each.drawn)
        CHECK(bench.ui->has("says/q or k of head 0 contains NaN or ∞: such rows have no place in a plane"));
      if (each.drawn) CHECK(bench.ui->has("qk/kept"));
    }
  }
}
