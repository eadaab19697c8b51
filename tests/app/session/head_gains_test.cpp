#include "app/session/head_gains.h"

#include <doctest/doctest.h>

using namespace headwise;
using Gains = std::vector<double>;

TEST_CASE("muting a head twice gives the scenario back") {
  Scenario scenario;
  scenario.attention.num_heads = 4;
  const HeadEdit muted = toggle_mute(scenario, 2);
  CHECK(muted.scenario.head_gain == Gains{1, 1, 0, 1});
  CHECK(muted.label == "mute head 2");
  CHECK(head_gain_of(muted.scenario, 2) == 0.0);
  CHECK(head_gain_of(muted.scenario, 1) == 1.0);
  const HeadEdit unmuted = toggle_mute(muted.scenario, 2);
  CHECK(unmuted.scenario == scenario);
  CHECK(unmuted.label == "unmute head 2");
}

TEST_CASE("solo mutes the other heads, and unsolo unmutes them") {
  Scenario scenario;
  scenario.attention.num_heads = 3;
  const HeadEdit alone = toggle_solo(scenario, 1);
  CHECK(alone.scenario.head_gain == Gains{0, 1, 0});
  CHECK(toggle_solo(alone.scenario, 0).scenario.head_gain == Gains{1, 0, 0});
  CHECK(toggle_solo(alone.scenario, 1).scenario == scenario);
  CHECK(alone.label == "solo head 1");
  CHECK(toggle_solo(alone.scenario, 1).label == "unsolo head 1");
}

TEST_CASE("gains of another count than the heads are filled up or cut") {
  Scenario scenario;
  scenario.attention.num_heads = 3;
  scenario.head_gain = Gains{0.5};
  CHECK(toggle_mute(scenario, 1).scenario.head_gain == Gains{0.5, 0, 1});
  scenario.head_gain = Gains{0, 1, 1, 1, 1};
  CHECK(toggle_mute(scenario, 0).scenario.head_gain == std::nullopt);
  CHECK(toggle_mute(scenario, 7).scenario == scenario);
  CHECK(toggle_solo(scenario, -1).scenario == scenario);
}

TEST_CASE("one head alone can be muted, and solo leaves it unmuted") {
  Scenario scenario;
  scenario.attention.num_heads = 1;
  CHECK(toggle_mute(scenario, 0).scenario.head_gain == Gains{0});
  CHECK(toggle_solo(scenario, 0).scenario == scenario);
}
