// The sliders of the heads: the answer follows while they are dragged, and a drag is one step of undo.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/session/head_gains.h"
#include "app/window/window_commands.h"
#include "core/attention/steps.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

// Of a map, in the light theme: the farther from the ground, the less.
int least_blue(const Image& image, const UiRect& map) {
  int least = 255;
  for (int y = static_cast<int>(map.min.y) + 2; y < static_cast<int>(map.max.y) - 2; ++y) {
    for (int x = static_cast<int>(map.min.x) + 2; x < static_cast<int>(map.max.x) - 2; ++x) {
      const std::size_t at = 4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                  static_cast<std::size_t>(x));
      least = std::min(least, static_cast<int>(image.rgba[at + 2]));
    }
  }
  return least;
}

}  // namespace

TEST_CASE("the gain of the shown head is dragged, the output follows, undo takes the whole drag back") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->key("3");
  const TensorPtr before = bench.trace().tensors.output;
  const TensorPtr weights = bench.trace().tensors.attn_weights;
  bench.ui->drag(bench.ui->at("setup/gain"), bench.ui->at("setup/gain", 0.0f));
  CHECK(head_gain_of(bench.scenario(), 3) == 0.0);
  CHECK(head_gain_of(bench.scenario(), 2) == 1.0);
  CHECK(bench.trace().tensors.output != before);
  CHECK(bench.trace().tensors.attn_weights == weights);  // only what depends on it is computed
  bench.ui->key("Ctrl+Z");
  CHECK(head_gain_of(bench.scenario(), 3) == 1.0);
  CHECK_FALSE(bench.scenario().head_gain);
}

TEST_CASE("a gain can be above 1, and a double click makes it 1 again") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->drag(bench.ui->at("setup/gain"), bench.ui->at("setup/gain", 1.0f));
  CHECK(head_gain_of(bench.scenario(), 0) == 2.0);
  bench.ui->double_click("setup/gain");
  CHECK(head_gain_of(bench.scenario(), 0) == 1.0);
}

TEST_CASE("key/value heads go over the divisors of H, from one for all to one each") {
  Scenario scenario = preset_scenario("random");
  scenario.attention.num_heads = 8;
  scenario.attention.embed_dim = 64;
  WINDOW_OR_SKIP(bench, open_window(1600, 1000, scenario));
  const auto at = [&](float share) { return bench.ui->at("setup/groups", share); };
  bench.ui->drag(bench.ui->right_end("setup/groups"), at(0.0f));
  REQUIRE(bench.scenario().attention.num_kv_heads);
  CHECK(*bench.scenario().attention.num_kv_heads == 1);
  CHECK(bench.trace().tensors.k_heads->shape().size(1) == 1);
  bench.ui->drag(at(0.02f), at(0.35f));
  CHECK(*bench.scenario().attention.num_kv_heads == 2);
  bench.ui->drag(at(0.02f), at(1.0f));
  CHECK_FALSE(bench.scenario().attention.num_kv_heads);
}

TEST_CASE("temperature and softcap are typed, and the weights answer") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1400));
  const double sharp = bench.trace().tensors.attn_weights->at({0, 0, 5, 4});
  bench.ui->click("setup/temperature").key("Ctrl+A").type("20");
  CHECK(bench.scenario().attention.temperature == 20.0);
  CHECK(bench.trace().tensors.attn_weights->at({0, 0, 5, 4}) < sharp);
  bench.ui->click("setup/softcap").key("Ctrl+A").type("2");
  const TensorPtr scaled = bench.trace().tensors.scaled_scores;
  for (Index i = 0; i < scaled->size(); ++i) CHECK(std::abs(scaled->flat(i)) <= 2.0);
}

TEST_CASE(
    "a sink is typed for every head, in place of a list with one for each; empty again, there is none") {
  Scenario scenario = preset_scenario("random");
  scenario.attention.sink = {0, 1, 2, 3, 4, 5, 6, 7};
  WINDOW_OR_SKIP(bench, open_window(1600, 1460, scenario));
  REQUIRE(bench.trace().tensors.sink_weights);
  bench.ui->click("setup/sink").key("Ctrl+A").type("1.5");
  CHECK(bench.scenario().attention.sink == std::vector<double>{1.5});
  CHECK(bench.trace().tensors.sinks->flat(7) == 1.5);
  bench.ui->key("Ctrl+A").key("Delete");
  CHECK(bench.scenario().attention.sink.empty());
  CHECK_FALSE(bench.trace().tensors.sinks);
}

TEST_CASE("a past is typed: its step appears before the scores, and its keys have names of their own") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1700, preset_scenario("random")));
  const std::size_t steps = shown_steps(bench.trace().options).size();
  CHECK_FALSE(bench.trace().tensors.present_key);
  bench.ui->click("setup/past_length").key("Ctrl+A").type("4");
  CHECK(bench.scenario().inputs.past_length == 4);
  REQUIRE(bench.trace().tensors.present_key);
  CHECK(shown_steps(bench.trace().options).size() == steps + 1);
  CHECK(bench.session().inputs().labels.key.front() == "past 0");
  bench.selection().step = Step::past;
  bench.ui->run_frames(3);
  CHECK(bench.ui->has("stage/result"));
  CHECK(bench.session().error() == "");
  bench.ui->click("setup/past_length").key("Ctrl+A").type("0");
  CHECK_FALSE(bench.trace().tensors.present_key);
}

TEST_CASE("a rotary base is typed, and q and k are rotated; empty again, they are not") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1400));
  CHECK_FALSE(bench.trace().tensors.q_rotary);
  bench.ui->click("setup/rotary_base").key("Ctrl+A").type("10000");
  CHECK(bench.scenario().attention.rotary_base == 10000.0);
  REQUIRE(bench.trace().tensors.q_rotary);
  CHECK_FALSE(identical(*bench.trace().tensors.q_rotary, *bench.trace().tensors.q_heads));
  bench.ui->key("Ctrl+A").key("Delete");
  CHECK_FALSE(bench.scenario().attention.rotary_base);
  CHECK_FALSE(bench.trace().tensors.q_rotary);
}

TEST_CASE("a base that is typed stands in the place of frequencies from a file") {
  Scenario scenario = preset_scenario("random");
  scenario.attention.rotary_inverse_frequencies = std::vector<double>{0.5};
  WINDOW_OR_SKIP(bench, open_window(1600, 1460, scenario));
  REQUIRE(bench.trace().tensors.q_rotary);
  bench.ui->click("setup/rotary_base").key("Ctrl+A").type("50");
  CHECK(bench.scenario().attention.rotary_base == 50.0);
  CHECK_FALSE(bench.scenario().attention.rotary_inverse_frequencies);
}

TEST_CASE("RoPE is stretched by a choice, a factor and the length of the texts of training") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1700));
  CHECK_FALSE(bench.ui->has("setup/rotary_scaling"));
  bench.ui->click("setup/rotary_base").key("Ctrl+A").type("10000").run_until_still();
  REQUIRE(bench.ui->has("setup/rotary_scaling"));
  const auto scaling = [&] { return bench.scenario().attention.rotary_scaling; };
  bench.ui->click("setup/rotary_scaling/YaRN").run_until_still();
  REQUIRE(scaling());
  CHECK(bench.session().error().empty());
  CHECK(scaling()->kind == RotaryScalingKind::yarn);
  CHECK(scaling()->factor == 4.0);
  CHECK(scaling()->original_max_position_embeddings ==
        std::ceil(static_cast<double>(bench.trace().tensors.q_heads->shape().size(2)) / 4.0));
  bench.ui->click("setup/rotary_scaling_factor").key("Ctrl+A").type("2");
  bench.ui->click("setup/rotary_scaling_length").key("Ctrl+A").type("5").run_until_still();
  CHECK(scaling()->factor == 2.0);
  CHECK(scaling()->original_max_position_embeddings == 5.0);
  for (const auto& [button, kind] : {std::pair("NTK", RotaryScalingKind::dynamic),
                                     {"Llama 3", RotaryScalingKind::llama3},
                                     {"linear", RotaryScalingKind::linear},
                                     {"YaRN", RotaryScalingKind::yarn},
                                     {"linear", RotaryScalingKind::linear}}) {
    bench.ui->click(std::string("setup/rotary_scaling/") + button).run_until_still();
    CHECK(bench.session().error().empty());
    CHECK(scaling()->kind == kind);
    CHECK(scaling()->factor == 2.0);
    CHECK(scaling()->original_max_position_embeddings == 5.0);
  }
  CHECK_FALSE(bench.ui->has("setup/rotary_scaling_length"));  // linear slows all texts
  bench.ui->click("setup/rotary_scaling/off").run_until_still();
  CHECK_FALSE(scaling());
  CHECK_FALSE(bench.ui->has("setup/rotary_scaling_factor"));
}

TEST_CASE("a kind of RoPE scaling that needs a factor gets one where longrope had none") {
  Scenario scenario = preset_scenario("random");
  scenario.attention.rotary_base = 10000.0;
  const auto pairs = static_cast<std::size_t>(scenario.attention.embed_dim / scenario.attention.num_heads / 2);
  RotaryScaling longrope;
  longrope.kind = RotaryScalingKind::longrope;
  longrope.original_max_position_embeddings = 7.0;
  longrope.short_factor = longrope.long_factor = std::vector<double>(pairs, 2.0);
  scenario.attention.rotary_scaling = longrope;
  WINDOW_OR_SKIP(bench, open_window(1600, 1700, scenario));
  REQUIRE(bench.session().error().empty());
  for (const char* const button : {"linear", "YaRN"}) {
    bench.ui->click(std::string("setup/rotary_scaling/") + button).run_until_still();
    CHECK(bench.session().error().empty());
    REQUIRE(bench.scenario().attention.rotary_scaling);
    CHECK(bench.scenario().attention.rotary_scaling->factor == 4.0);
    CHECK(bench.scenario().attention.rotary_scaling->original_max_position_embeddings == 7.0);
  }
}

TEST_CASE("what the gains do is held against the output with every gain 1, computed once for a whole drag") {
  const Scenario plain = preset_scenario("hand_made");
  const ComputationPtr all = compute(plain, nullptr);
  UnmutedOutput unmuted;
  CHECK_FALSE(unmuted.change(*all->trace));
  ComputationPtr now = all;
  for (const double gain : {0.9, 0.5, 0.25, 0.0}) {
    now = compute(set_head_gain(plain, 3, gain).scenario, now.get());
    const auto change = unmuted.change(*now->trace);
    REQUIRE(change);
    CHECK(change->largest ==
          doctest::Approx(tensor_change(all->trace->tensors.output, now->trace->tensors.output).largest)
              .epsilon(1e-5));
    CHECK(change->relative() > 0.0);
  }
  CHECK(unmuted.computed() == 1);
  now = compute(with_setting(now->scenario, "mask.is_causal=true"), now.get());
  CHECK(unmuted.change(*now->trace));
  CHECK(unmuted.computed() == 2);
}

TEST_CASE("while a gain is dragged the setup says what all gains do to the output") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  CHECK_FALSE(bench.ui->has("setup/gain_effect"));
  bench.ui->drag(bench.ui->at("setup/gain"), bench.ui->at("setup/gain", 0.0f));
  CHECK(bench.ui->has("setup/gain_effect"));
  bench.ui->double_click("setup/gain");
  CHECK_FALSE(bench.ui->has("setup/gain_effect"));
}

TEST_CASE("the maps of all heads have one range of colours, or each its own, which is said over them") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.show(Step::scores, StageView::all_heads);
  const auto darkest = [&](int head) {
    return least_blue(bench.ui->pixels(), bench.ui->rect(fmt::format("stage/map/{}", head)));
  };
  bench.state().view.settings.theme = Theme::light;
  bench.ui->run_until_still();
  const UiRect before = bench.ui->rect("stage/map/6");
  const int pale = darkest(6), strong = darkest(0);
  CHECK(strong < pale);
  bench.ui->click("stage/colors/per head").run_until_still();
  CHECK(bench.ui->rect("stage/map/6").min.y > before.min.y);  // the range stands over it
  CHECK(darkest(6) < pale - 60);
  bench.ui->click("stage/colors/shared").run_until_still();
  CHECK(darkest(6) == pale);
}

TEST_CASE("beside a head of large numbers other thumbnails show their patterns, each in its own colours") {
  Scenario scenario = preset_scenario("hand_made");
  WINDOW_OR_SKIP(bench, open_window(1600, 1000, scenario));
  bench.state().view.settings.theme = Theme::light;
  bench.selection().step = Step::scores;
  for (const StageView view : {StageView::one_head, StageView::tokens}) {
    bench.selection().view = view;
    bench.ui->move_to(2, 2).run_until_still();
    const auto darkest = [&] { return least_blue(bench.ui->pixels(), bench.ui->rect("heads/thumbnail/6")); };
    const int pale = darkest();
    bench.ui->click("stage/colors/per head").move_to(2, 2).run_until_still();
    CHECK(bench.selection().colors_by_head);
    CAPTURE(static_cast<int>(view));
    CHECK(std::abs(darkest() - pale) > 40);
    bench.ui->click("stage/colors/shared").move_to(2, 2).run_until_still();
    CHECK(darkest() == pale);
  }
  // One choice for all views, and one of the commands.
  perform(bench.state(), {CommandId::colors_by_head});
  bench.selection().view = StageView::all_heads;
  bench.ui->run_until_still();
  CHECK(bench.selection().colors_by_head);
  CHECK(bench.ui->has("stage/colors/per head"));
}

TEST_CASE("heads are named under thumbnails by what is measured on the text; a name goes with its habit") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000, preset_scenario("welcome")));
  UiDriver& ui = *bench.ui;
  bench.selection().step = Step::softmax;
  ui.run_until_still();
  int named = 0;
  const auto shown_names = [&] {
    std::vector<bool> shown;
    for (Index head = 0; head < 8; ++head) shown.push_back(ui.has("heads/name/" + std::to_string(head)));
    return shown;
  };
  const std::vector<bool> layer1 = shown_names();
  for (const bool each : layer1) named += each ? 1 : 0;
  CHECK(named > 0);
  CHECK(named < 8);  // some heads of this layer have no habit
  // Layer 0 has heads that look at the neighbours.
  Scenario other = bench.scenario();
  other.parameters.layer = 0;
  bench.session().edit(other, "layer 0");
  ui.run_until_still();
  CHECK(shown_names() != layer1);
  CHECK(ui.has("heads/name/7"));  // the previous word
}

TEST_CASE("random inputs without words are measured by place alone, and cross-attention is not named") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000, preset_scenario("cross_attention")));
  bench.show(Step::softmax);
  for (const std::string& name : bench.ui->names()) CHECK_FALSE(name.starts_with("heads/name/"));
}

namespace {

bool same_weights(const Trace& a, const Trace& b, Index head) {
  const Tensor &x = *a.tensors.attn_weights, &y = *b.tensors.attn_weights;
  for (Index i = 0; i < x.size(); ++i) {
    if (x.shape().index_of(i)[1] == head && x.flat(i) != y.flat(i)) return false;
  }
  return x.shape() == y.shape();
}

}  // namespace

TEST_CASE("H freezes the head that is looked at: a new word reaches its answer through the values alone") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1250));
  const TracePtr before = bench.session().trace_ptr();
  bench.ui->key("6");  // of random parameters: its weights follow the words
  bench.ui->key("H");
  CHECK(is_frozen(bench.scenario(), 6));
  CHECK(bench.session().last_edit().starts_with("Head 6 frozen: it keeps its 12 × 12 weights"));
  CHECK(identical(*bench.trace().tensors.output, *before->tensors.output));

  const char* sentence = "inputs.text=The animal didn't cross the street although it was too tired";
  bench.session().edit(with_setting(bench.scenario(), sentence), "text");
  bench.ui->run_frames(3);
  CHECK(same_weights(bench.trace(), *before, 6));
  CHECK_FALSE(identical(*bench.trace().tensors.head_output, *before->tensors.head_output));
  const ComputationPtr free = compute(with_setting(preset_scenario("hand_made"), sentence), nullptr);
  CHECK_FALSE(identical(*bench.trace().tensors.output, *free->trace->tensors.output));

  bench.ui->key("H");
  CHECK_FALSE(bench.scenario().frozen_heads);
  CHECK(identical(*bench.trace().tensors.output, *free->trace->tensors.output));
  bench.ui->key("Ctrl+Z").key("Ctrl+Z").key("Ctrl+Z");
  CHECK(bench.scenario() == preset_scenario("hand_made"));
}

TEST_CASE("the setup freezes the head that is looked at by a click, and a lock marks its map in every view") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1250));
  bench.ui->key("4");
  CHECK_FALSE(bench.ui->has("lock"));
  bench.ui->click("setup/freeze/frozen");
  CHECK(is_frozen(bench.scenario(), 4));
  for (const StageView view : {StageView::one_head, StageView::all_heads}) {
    bench.selection().view = view;
    bench.selection().step = Step::softmax;
    bench.ui->run_frames(3);
    CHECK(bench.ui->has("lock"));
    if (view != StageView::one_head) continue;
    const UiRect lock = bench.ui->rect("lock"), map = bench.ui->rect("stage/result");
    CHECK(lock.min.x > map.min.x);  // the large map, behind the thumbnails
    CHECK(lock.max.x <= map.max.x);
    CHECK(lock.min.y >= map.min.y);
    CHECK(lock.max.y < map.max.y);
  }
  bench.ui->click("setup/freeze/live");
  CHECK_FALSE(bench.scenario().frozen_heads);
  bench.ui->key("Ctrl+Z");
  CHECK(is_frozen(bench.scenario(), 4));
}

TEST_CASE("an edit of the sizes lets the head go in one step of undo") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1250));
  bench.ui->key("H");
  const Scenario frozen = bench.scenario();
  bench.session().edit(with_setting(frozen, "attention.num_heads=4"), "num_heads");
  bench.ui->run_frames(2);
  CHECK(bench.session().error().empty());
  CHECK_FALSE(bench.scenario().frozen_heads);
  CHECK_CONTAINS(bench.session().last_edit(), "no longer frozen");
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == frozen);
}
