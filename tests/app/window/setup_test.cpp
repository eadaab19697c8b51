// The setup at the left: its rows keep their places, and name the keys of scenario files.
#include "app/panels/setup_settings.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <type_traits>

#include "app/content/doc_pages.h"
#include "app/session/cell_editing.h"
#include "app/window/window_commands.h"
#include "core/scenario/scenario_keys.h"
#include "tests/app/keyboard_bench.h"

using namespace headwise;

namespace {

// The rows that are shown, by where they begin.
std::map<std::string, float> tops(const WindowBench& bench) {
  std::map<std::string, float> all;
  for (const SetupSetting& setting : setup_settings(bench.scenario()))
    if (bench.ui->has(setting.id)) all[setting.id] = bench.ui->rect(setting.id).min.y;
  return all;
}

void check_stays(const WindowBench& bench, const char* id, float before) {
  CAPTURE(std::string(id));
  REQUIRE(bench.ui->has(id));
  CHECK(bench.ui->rect(id).min.y == before);
}

}  // namespace

TEST_CASE("every row of the setup has a key, and the scenario's format has that key") {
  const std::vector<ScenarioKey> keys = scenario_keys();
  std::set<std::string> rows;
  std::vector<Scenario> scenarios(1);
  scenarios.front().inputs.self_attention = false;
  for (const char* preset : {"welcome", "hand_made", "random", "cross_attention"})
    scenarios.push_back(preset_scenario(preset));
  for (Scenario& scenario : scenarios) {
    scenario.mask.alibi = scenario.mask.is_causal = true;
    scenario.attention.qk_norm = QkNorm::per_head;
    scenario.attention.rotary_base = 10000.0;
    for (const SetupSetting& setting : setup_settings(scenario)) {
      CAPTURE(setting.id);
      rows.insert(setting.id);
      CHECK_FALSE(setting.name.empty());
      CHECK_FALSE(setting.what.empty());
      CHECK_FALSE(setting.keywords.empty());
      if (setting.id == "setup/builder" || setting.id == "setup/mask_convention")
        continue;  // not of the scenario
      CHECK(std::ranges::find(keys, setup_key(setting.id), &ScenarioKey::path) != keys.end());
    }
  }
  CHECK(rows.size() == 49);
  CHECK(setup_key("setup/fill") == "mask.value");
  CHECK(setup_key("setup/head_dim") == "attention.head_dim");
  CHECK(setup_key("setup/fully_masked_rows") == "mask.fully_masked_rows");
}

TEST_CASE("every number of the operator has a row with a tooltip, and is dragged within its range") {
  const auto check = [](const OptionRow& row, auto member, const auto&... range) {
    using Value = std::remove_cvref_t<decltype(AttentionOptions{}.*member)>;
    if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, std::optional<double>>) {
      CAPTURE(std::string(row.key));
      const auto setting = std::ranges::find(all_setup_settings(), row.key, &SetupSetting::option);
      REQUIRE(setting != all_setup_settings().end());
      CHECK_FALSE(setting->tooltip.empty());
      CHECK(setting->drag_step > 0.0);
      CHECK((range.contains(setting->drag_most) && ...));
    }
  };
  visit_layer_options(check);
  visit_position_options(check);
}

TEST_CASE("a row whose name is not its key shows the key, dim beside the name, and in its tooltip") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1400));
  for (const std::string key : {"mask.is_causal", "mask.value", "valid_lens", "op"})
    CHECK_MESSAGE(bench.ui->has("says/" + key), key);
  for (const char* key : {"attention.embed_dim", "attention.softcap"})  // these say it already
    CHECK_FALSE(bench.ui->has(std::string("says/") + key));
  // Never over the control.
  for (const auto& [key, id] : {std::pair{"mask.is_causal", "setup/causal"}, {"mask.value", "setup/fill"}}) {
    const UiRect says = bench.ui->rect(std::string("says/") + key), control = bench.ui->rect(id);
    CHECK(says.min.y > control.min.y);
    CHECK(says.min.y < control.max.y);
    CHECK(says.min.x < control.min.x);
  }
}

TEST_CASE("in a low window the causal switch is in sight without scrolling") {
  for (const char* preset : {"welcome", "hand_made"}) {
    WINDOW_OR_SKIP(bench, open_unpainted(1280, 720, preset_scenario(preset)));
    CAPTURE(preset);
    CHECK(bench.ui->rect("setup/causal").max.y < bench.ui->rect("panel/setup").max.y);
    bench.ui->click("setup/causal/on");
    CHECK(bench.scenario().mask.is_causal);
  }
}

TEST_CASE("no control moves under the mouse that changes it") {
  for (const char* preset : {"welcome", "hand_made", "random"}) {
    WINDOW_OR_SKIP(bench, open_unpainted(1600, 1400, preset_scenario(preset)));
    bench.ui->rasterise(false);
    CAPTURE(std::string(preset));
    for (const char* choice :
         {"setup/causal/on", "setup/causal/off", "setup/alibi/on", "setup/source/random", "setup/source/text",
          "setup/attention/cross", "setup/attention/self", "setup/parameters/random", "setup/freeze/frozen",
          "setup/freeze/live", "setup/op/SDPA", "setup/op/MHA", "setup/op/MLA", "setup/op/MHA"}) {
      if (!bench.ui->has(choice)) continue;
      const std::string row = std::string(choice).substr(0, std::string(choice).rfind('/'));
      const float before = bench.ui->rect(row).min.y, left = bench.ui->rect(row).min.x;
      bench.ui->click(choice).run_until_still();
      check_stays(bench, row.c_str(), before);
      CHECK(bench.ui->rect(row).min.x == left);
    }
  }
}

TEST_CASE("the causal mask, a mask pattern and typed sizes leave the rows of mask and heads in place") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1400));
  const auto before = tops(bench);
  bench.ui->click("setup/causal/on");
  for (const auto& [id, top] : before) check_stays(bench, id.c_str(), top);
  const UiRect button = bench.ui->rect("setup/preset");
  bench.ui->click("setup/preset");
  for (const char* preset : {"setup/preset/document:0,6", "setup/preset/dilated"}) {
    if (!bench.ui->has(preset)) bench.ui->click("setup/preset");
    bench.ui->run_frames(2);
    if (!bench.ui->has(preset)) continue;
    bench.ui->click(preset).run_until_still();
    CHECK(bench.scenario().mask.preset);
    CHECK(bench.ui->rect("setup/preset").min.x == button.min.x);
    CHECK(bench.ui->rect("setup/preset").min.y == button.min.y);
    CHECK(bench.ui->rect("setup/preset").max.x == button.max.x);
  }
  // Through 1, which has no key/value heads to choose, to more heads.
  const float size = bench.ui->rect("setup/num_heads").min.y;
  for (const char* heads : {"1", "8"}) {
    bench.ui->click("setup/num_heads").key("Ctrl+A").type(heads).run_until_still();
    check_stays(bench, "setup/num_heads", size);
  }
  CHECK(bench.trace().options.num_heads == 8);
}

TEST_CASE("the operator is switched like any setting: undone by Ctrl+Z, and back without a loss") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1400));
  bench.ui->key("M");
  const Scenario before = bench.scenario();
  REQUIRE(before.head_gain);
  bench.ui->click("setup/op/SDPA").run_until_still();
  CHECK(bench.session().error().empty());
  CHECK(bench.trace().options.op == Op::scaled_dot_product_attention);
  CHECK_FALSE(bench.trace().tensors.concat);
  // What has no meaning there is dim and cannot be changed.
  CHECK(bench.ui->has("setup/gain"));
  bench.ui->click("setup/parameters/random").click("setup/layout/3");
  CHECK(bench.scenario().parameters == before.parameters);
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == before);
  bench.ui->key("Ctrl+Y");
  CHECK(bench.trace().options.op == Op::scaled_dot_product_attention);
  bench.ui->click("setup/op/MHA").run_until_still();
  CHECK(bench.scenario() == before);
}

TEST_CASE("what an operator had in one scenario is not restored in another that is opened") {
  const Scenario latent = preset_scenario("latent");
  Scenario clipped = with_operator(latent, Op::multi_head_attention, std::nullopt);
  clipped.attention.clip_qkv = 8.0;
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1400, clipped));
  bench.ui->click("setup/op/MLA").run_until_still();
  CHECK_FALSE(bench.scenario().attention.clip_qkv);
  PaletteEntry entry;
  entry.target = PresetName{"latent"};
  perform(bench.state(), entry);
  bench.ui->run_until_still();
  REQUIRE(bench.scenario() == latent);
  bench.ui->click("setup/op/MHA").run_until_still();
  CHECK(bench.trace().options.op == Op::multi_head_attention);
  CHECK_FALSE(bench.scenario().attention.clip_qkv);
}

TEST_CASE("a model's layer becomes its heads alone, or gets latents, and comes back") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1400, preset_scenario("welcome")));
  const Scenario before = bench.scenario();
  for (const auto& [button, op] : {std::pair("setup/op/SDPA", Op::scaled_dot_product_attention),
                                   {"setup/op/MLA", Op::multi_head_latent_attention}}) {
    bench.ui->click(button).run_until_still();
    CHECK(bench.session().error().empty());
    CHECK(bench.trace().options.op == op);
    bench.ui->click("setup/op/MHA").run_until_still();
    CHECK(bench.session().error().empty());
    CHECK(bench.scenario() == before);
  }
}

TEST_CASE("from the model's name it is one click to how it was trained") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720, preset_scenario("welcome")));
  bench.ui->click("setup/training").run_until_still();
  CHECK(bench.ui->has("overlay/docs"));
  const auto section = std::ranges::find(doc_sections(), "How they were trained", &DocSection::title);
  REQUIRE(section != doc_sections().end());
  CHECK(bench.state().dialogs.docs.page == section->place.page);
  CHECK(bench.ui->rect("says/trained").min.y < 720.0f);
  bench.ui->key("Escape").key("R").run_until_still();
  for (int i = 0; i < 200 && !bench.ui->has("heads/training"); ++i) bench.ui->run_frames(5);
  bench.ui->run_frames(5);  // the sheet has its size
  bench.ui->click("heads/training").run_until_still();
  CHECK_FALSE(bench.ui->has("overlay/heads"));
  CHECK(bench.ui->has("overlay/docs"));
}

TEST_CASE("a width that a trained model does not have is refused with what to do, and a button does it") {
  for (const auto& [button, source] : {std::pair{"setup/embed_dim/random", ParameterSource::random},
                                       {"setup/embed_dim/hand_made", ParameterSource::hand_made}}) {
    WINDOW_OR_SKIP(bench, open_unpainted(1600, 1310, preset_scenario("welcome")));
    bench.ui->rasterise(false);
    REQUIRE(bench.scenario().parameters.source == ParameterSource::model);
    CHECK_FALSE(bench.ui->has(button));
    bench.ui->click("setup/embed_dim").key("Ctrl+A").type("192");
    bench.session().finish();
    bench.ui->run_frames(3);
    REQUIRE(bench.ui->has(button));
    bench.ui->click(button);
    bench.session().finish();
    bench.ui->run_frames(3);
    CHECK(bench.session().error().empty());
    CHECK(bench.scenario().parameters.source == source);
    CHECK(bench.trace().options.embed_dim == 192);
    CHECK_FALSE(bench.ui->has(button));
  }
}
