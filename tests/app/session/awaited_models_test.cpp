// Scenarios whose models are trained in the background, beside a session that stays as it is.
#include <doctest/doctest.h>

#include <thread>

#include "app/session/session.h"
#include "tests/app/gated_models.h"

using namespace headwise;

namespace {

Scenario of_gated(const char* name) {
  Scenario scenario;
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = "garden river lamp";
  scenario.parameters.source = ParameterSource::model;
  scenario.parameters.file = std::string("builtin:gated/") + name;
  return scenario;
}

Scenario causal() {
  Scenario scenario;
  scenario.mask.is_causal = true;
  return scenario;
}

// Polls as a window does until there is nothing more to come.
void poll_until_done(Session& session) {
  while (session.computing()) {
    session.poll();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

TEST_CASE("a session stays as it is while a model is trained, and then is as if it had trained it at once") {
  ModelGate& gate = close_model_gate();
  const Scenario scenario = of_gated("beside/1");
  Session session{Scenario{}};
  session.train_in_background(true);
  session.open(scenario, "open");
  CHECK(session.computing());
  REQUIRE(session.awaited());
  CHECK(session.awaited()->parameters.file == scenario.parameters.file);
  CHECK(session.scenario() == Scenario{});
  CHECK_FALSE(session.history().can_undo());
  for (const double fraction : {0.25, 0.5}) {
    gate.fraction = fraction;
    while (session.waiting().fraction < fraction) CHECK_FALSE(session.poll());
    CHECK(session.waiting().fraction == doctest::Approx(fraction));
  }
  gate.open = true;
  poll_until_done(session);
  CHECK(session.error().empty());
  CHECK_FALSE(session.awaited());

  Session at_once{Scenario{}};
  at_once.open(scenario, "open");
  CHECK_FALSE(at_once.computing());
  CHECK(session.scenario() == at_once.scenario());
  CHECK(session.scenario().attention.num_heads == 2);
  CHECK(session.scenario() == session.traced_scenario());
  CHECK(session.last_edit() == at_once.last_edit());
  CHECK(session.undo_label() == at_once.undo_label());
  CHECK(session.undo());
  CHECK(session.scenario() == Scenario{});
  session.open(scenario, "open");
  CHECK_FALSE(session.computing());  // a model that is there is not waited for
}

TEST_CASE("what is edited while a scenario is awaited is edited at once, and the scenario comes after it") {
  ModelGate& gate = close_model_gate();
  Session session{Scenario{}};
  session.train_in_background(true);
  session.open(of_gated("edited/1"), "open");
  session.edit(causal(), "causal mask on");
  CHECK(session.scenario() == causal());
  CHECK(session.trace().options.num_heads == Scenario{}.attention.num_heads);
  CHECK(session.awaited());
  CHECK(session.undo());
  CHECK(session.redo());
  CHECK(session.scenario() == causal());
  gate.open = true;
  session.finish();
  CHECK(session.scenario().attention.num_heads == 2);
  CHECK(session.scenario().parameters.file == "builtin:gated/edited/1");
  CHECK(session.undo());
  CHECK(session.scenario() == causal());
}

TEST_CASE("an edit that is awaited is given up by the next one, by undoing and by cancelling") {
  ModelGate& gate = close_model_gate();
  Session session{Scenario{}};
  session.train_in_background(true);
  Scenario edited = of_gated("given_up/1");
  session.edit(edited, "model", true);
  REQUIRE(session.awaited());
  session.edit(causal(), "causal mask on");
  CHECK_FALSE(session.awaited());
  session.edit(edited, "model");
  REQUIRE(session.awaited());
  CHECK(session.undo());
  CHECK_FALSE(session.computing());
  CHECK(session.scenario() == Scenario{});
  session.edit(edited, "model");
  CHECK(session.cancel());
  CHECK_FALSE(session.computing());
  CHECK(session.last_edit() == "Cancelled. Nothing was changed.");
  session.finish();
  CHECK(gate.given_up == gate.begun);
  CHECK(session.scenario() == Scenario{});
  session.edit(edited, "model");
  gate.open = true;
  session.finish();
  CHECK(session.scenario().attention.num_heads == 2);
  CHECK(session.undo_label() == "model");
}

TEST_CASE("of two scenarios that are opened one after the other, the model of the second is trained") {
  ModelGate& gate = close_model_gate();
  Session session{Scenario{}};
  session.train_in_background(true);
  session.open(of_gated("first/1"), "open first");
  while (gate.begun == 0) std::this_thread::yield();
  session.open(of_gated("second/1"), "open second");
  while (gate.begun < 2) session.poll();
  CHECK(gate.given_up == 1);
  gate.open = true;
  poll_until_done(session);
  CHECK(session.scenario().parameters.file == "builtin:gated/second/1");
  CHECK(needs_making("builtin:gated/first/1"));
  CHECK(session.undo());
  CHECK(session.scenario() == Scenario{});
}

TEST_CASE("a model that another session has trained meanwhile is filled in all the same") {
  ModelGate& gate = close_model_gate();
  Session session{Scenario{}}, other{Scenario{}};
  session.train_in_background(true);
  other.train_in_background(true);
  for (Session* each : {&session, &other}) each->open(of_gated("shared/1"), "open");
  gate.open = true;
  for (Session* each : {&session, &other}) {
    poll_until_done(*each);
    CHECK(each->error().empty());
    CHECK(each->scenario().attention.num_heads == 2);
  }
  CHECK(gate.begun == 1);
}

TEST_CASE("a model that cannot be trained has the sentence that it has at once, and is not tried twice") {
  ModelGate& gate = close_model_gate();
  gate.open = true;
  for (const char* file :
       {"builtin:gated/broken/1", "builtin:trained/revers/10", "builtin:trained/reverse,width=7/10",
        "builtin:trained/reverse,learning-rate=x/10", "builtin:trained/reverse/99999"}) {
    CAPTURE(file);
    Scenario scenario = of_gated("broken/1");
    scenario.parameters.file = file;
    Session session{Scenario{}}, at_once{Scenario{}};
    session.train_in_background(true);
    const int begun = gate.begun;
    session.open(scenario, "open");
    poll_until_done(session);
    CHECK(gate.begun - begun <= 1);
    at_once.open(scenario, "open");
    at_once.finish();
    CHECK_FALSE(session.error().empty());
    CHECK(session.error() == at_once.error());
    CHECK(session.scenario() == at_once.scenario());
    CHECK(session.undo_label() == at_once.undo_label());
    CHECK(session.undo());
    CHECK(session.scenario() == Scenario{});
  }
  Session session{Scenario{}};
  session.train_in_background(true);
  session.open(of_gated("large/1"), "open");
  session.finish();
  CHECK(session.error() == "training this model does not fit in memory: choose a smaller width or batch");
  CHECK(session.undo());
}
