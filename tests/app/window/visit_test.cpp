// The scripted visit that `headwise bench --ui` times: it does what it says, and edits are seen at once.
// No time is asserted.
#include <doctest/doctest.h>

#include "app/window/window_visit.h"
#include "core/scenario/presets.h"
#include "core/tensor/error.h"
#include "tests/skipped.h"

using namespace headwise;

namespace {

// No frames where there is no EGL.
VisitReport visit(const Scenario& scenario) {
  try {
    return visit_window(scenario, 900, 1400, 2);
  } catch (const Error& error) {
    if (error.status() != ExitStatus::no_display) throw;
    test::say_skipped(error.what());
    return {};
  }
}

const EditLatency* find_edit(const VisitReport& report, std::string_view name) {
  for (const EditLatency& edit : report.edits)
    if (edit.name == name) return &edit;
  return nullptr;
}

}  // namespace

TEST_CASE("every edit of the welcome scenario is on the screen in the next frame") {
  const VisitReport report = visit(preset_scenario("hand_made"));
  if (report.parts.empty()) return;
  CHECK(report.first_frame_seconds > 0.0);
  CHECK_FALSE(report.renderer.empty());
  for (const VisitPart& part : report.parts) {
    CAPTURE(part.name);
    CHECK(part.seconds.size() >= 2);
  }
  CHECK(report.edits.size() == 9);
  for (const EditLatency& edit : report.edits) {
    CAPTURE(edit.name);
    CHECK(edit.frames <= 1);
    CHECK(edit.computed > 0);
  }
  // Only what depends on the edit is computed: a gain is concat, output and nothing before them.
  REQUIRE(find_edit(report, "mute a head"));
  CHECK(find_edit(report, "mute a head")->computed == 2);
  REQUIRE(find_edit(report, "set a parameter"));
  CHECK(find_edit(report, "set a parameter")->computed == 1);
  for (const EditLatency& edit : report.edits) CHECK(edit.refreshes >= 1);
}

TEST_CASE("a visit leaves out what its scenario has no place for") {
  Scenario scenario;
  scenario.op = Op::scaled_dot_product_attention;
  scenario.inputs.query_length = 4;
  const VisitReport report = visit(scenario);
  if (report.parts.empty()) return;
  CHECK(find_edit(report, "type a letter") == nullptr);
  CHECK(find_edit(report, "mute a head") == nullptr);
  CHECK(find_edit(report, "switch the causal mask") != nullptr);
}

TEST_CASE("quantiles of frame times are times that occurred") {
  const VisitPart part{"x", {4.0, 1.0, 3.0, 2.0}, 0.0};
  CHECK(frame_quantile(part, 0.0) == 1.0);
  CHECK(frame_quantile(part, 0.5) == 3.0);
  CHECK(frame_quantile(part, 0.99) == 4.0);
  CHECK(frame_quantile({"none", {}, 0.0}, 0.5) == 0.0);
}
