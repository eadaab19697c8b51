// What the inspector says of a gradient cell, in a trace that has a backward pass.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/content/cell_terms.h"
#include "app/platform/heatmap_renderer.h"
#include "app/stage/inspector_panel.h"
#include "tests/app/stage/stage_trace.h"
#include "tests/app/ui_driver.h"

using namespace headwise;
using Id = TensorId;

namespace {

TracedScenario traced_back(std::initializer_list<std::string> settings = {}) {
  TracedScenario given = traced(settings);
  given.trace = reference_backward(*given.trace);
  return given;
}

std::vector<std::string> term_names(const TracedScenario& given, Id id, const std::vector<Index>& index) {
  const CellProvenance cell = cell_provenance(*given.trace, {id, true}, index);
  std::vector<std::string> names;
  for (const NamedTerm& term : cell_terms(*given.trace, given.inputs.labels, cell, 1000).largest)
    names.push_back(term.name);
  std::ranges::sort(names);
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// The inspector alone in a window, on one cell at a time.
struct Inspector {
  const TracedScenario& given;
  std::unique_ptr<UiDriver> driver;
  std::unique_ptr<HeatmapRenderer> heatmaps;
  Selection selection;
  InspectorState state;
  PanelAction action;

  explicit Inspector(const TracedScenario& scenario) : given(scenario), driver(UiDriver::start(420, 1000)) {
    if (!driver) return;
    heatmaps = std::make_unique<HeatmapRenderer>();
    driver->set_frame([this](const FrameInput&, const Fonts& fonts, float scale) {
      ImGui::SetNextWindowPos({0, 0});
      ImGui::SetNextWindowSize({420, 1000});
      ImGui::Begin("inspector", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
      const std::string none;
      const PanelContext context{.scenario = given.scenario,
                                 .inputs = given.inputs,
                                 .trace = *given.trace,
                                 .selection = selection,
                                 .last_edit = none,
                                 .error = none,
                                 .heatmaps = *heatmaps,
                                 .fonts = fonts,
                                 .palette = palette_of(Theme::dark),
                                 .theme = Theme::dark,
                                 .scale = scale};
      PanelAction now = draw_inspector(context, state);
      if (now.selection) action = std::move(now);
      ImGui::End();
      return FrameResult{};
    });
  }

  void place_of_preset(CellRef cell) {
    selection.step = step_of(cell.tensor.id);
    selection.tensor = cell.tensor.id;
    selection.pinned = std::move(cell);
    driver->run_frames(2);
  }

  ~Inspector() { heatmaps.reset(); }  // while the context is there
};

}  // namespace

TEST_CASE("the terms of a gradient are named by every index that is summed") {
  const TracedScenario given =
      traced_back({"inputs.source=text", "inputs.text=the cat saw the dog", "attention.num_kv_heads=1",
                   "attention.embed_dim=12", "attention.num_heads=3"});
  const std::vector<std::string> shared = term_names(given, Id::v_heads, {0, 0, 1, 2});
  CHECK(shared.size() == 15);  // 3 query heads × 5 queries
  CHECK(has(shared, "h 2, saw"));
  CHECK(has(term_names(given, Id::masked_scores, {0, 1, 2, 3}), "dog"));
  CHECK(has(term_names(given, Id::in_proj_weight, {1, 2}), "dog"));
  CHECK(has(term_names(given, Id::concat, {0, 1, 2}), "e 7"));
}

TEST_CASE("what comes back to one array through q, k and v is told apart by tensor") {
  const std::vector<std::string> names = term_names(traced_back(), Id::query, {0, 1, 2});
  CHECK(names.size() == 36);
  CHECK(has(names, "grad.q, col 0"));
  CHECK(has(names, "grad.k, col 11"));
  CHECK(has(names, "grad.v, col 5"));
}

TEST_CASE("one thing more that is added has its tensor's name") {
  const std::vector<std::string> names = term_names(
      traced_back({"inputs.self_attention=false", "inputs.key_length=5", "attention.residual=true"}),
      Id::query, {0, 1, 2});
  CHECK(has(names, "grad.residual_output"));
  CHECK(has(names, "col 3"));
}

TEST_CASE("the inspector shows a cell of every gradient, whatever function it passes through") {
  const TracedScenario given =
      traced_back({"attention.residual=true", "attention.layer_norm=true", "attention.softcap=2",
                   "attention.dropout=0.3", "mask.is_causal=true", "mask.value=-10000"});
  Inspector inspector(given);
  if (!inspector.driver) return;
  int shown = 0;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr gradient = given.trace->tensor({entry.id, true});
    if (!gradient || gradient->size() == 0) continue;
    CAPTURE(std::string(entry.name));
    inspector.place_of_preset({{entry.id, true}, gradient->shape().index_of(gradient->size() - 1)});
    inspector.driver->save_png("inspector_grad_" + std::string(entry.name));
    const bool last = entry.id == Id::layer_norm_output;
    CHECK(inspector.driver->has("inspector/from/0") == !last);
    CHECK(inspector.driver->has("inspector/to/0") ==
          !cell_consumers(*given.trace, {entry.id, true}, inspector.selection.pinned->index).empty());
    ++shown;
  }
  CHECK(shown > 20);
}

TEST_CASE("a click leads from a gradient cell to the cell that it came from, and from a value to gradients") {
  const TracedScenario given = traced_back();
  Inspector inspector(given);
  if (!inspector.driver) return;
  inspector.place_of_preset({{Id::scores, true}, {0, 1, 2, 3}});
  inspector.driver->click("inspector/from/0");
  REQUIRE(inspector.action.selection);
  CHECK(inspector.action.selection->pinned == CellRef{{Id::scaled_scores, true}, {0, 1, 2, 3}});
  CHECK(inspector.action.selection->head == 1);
  inspector.place_of_preset({{Id::scores}, {0, 1, 2, 3}});  // feeds scaled_scores only: no softcap
  CHECK_FALSE(inspector.driver->has("inspector/to/1"));
  inspector.place_of_preset({{Id::attn_weights}, {0, 1, 2, 3}});
  // Among what it feeds is the row of grad.masked_scores.
  bool leads_to_gradient = false;
  for (int i = 0; inspector.driver->has(fmt::format("inspector/to/{}", i)); ++i) {
    inspector.driver->click(fmt::format("inspector/to/{}", i));
    leads_to_gradient |= inspector.action.selection->tensor == Id::masked_scores;
  }
  CHECK(leads_to_gradient);
}
