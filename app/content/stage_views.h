// Describes the views of the stage, a row each: what the header, the palette and the tooltips call them, and how they treat the
// step that is shown. A new view is an enumerator with its word (core/playlist/stage_view.h), a row here and a case of
// draw_view (app/stage/stage_panel.cpp).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/playlist/stage_view.h"
#include "core/scenario/scenario.h"

namespace headwise {

// What becomes of the motion from step to step.
enum class StepMotion {
  shown,    // the picture shows how the step is made
  unseen,   // it runs on, for the step bar alone
  skipped,  // the step is there at once
};

struct StageViewEntry {
  StageView view;
  std::string_view name;           // over the stage: "One head"
  std::string_view short_name;     // the same where there is no room: "one"
  std::string_view way;            // in the tooltip over all of them: "one head with its operands"
  std::string_view what;           // one line, in the palette
  StepMotion motion;               // between steps
  bool turns;                      // whether queries may be its columns
  bool needs_model = false;        // offered only with a model
  std::string_view title = {};     // over the stage; empty: the name of the step
  std::string_view question = {};  // beside the title; empty: the question of the step
};

// In the order of StageView.
std::span<const StageViewEntry> stage_views();
const StageViewEntry& stage_view_entry(StageView view);

// Returns the views that this scenario offers, and the one that is shown.
std::vector<StageView> offered_views(const Scenario& scenario, StageView shown);

// Returns the next view that this scenario offers; behind the last comes the first.
StageView next_view(const Scenario& scenario, StageView shown);

// "one head with its operands, all heads side by side, …": all views, for a tooltip.
std::string ways_to_look();

}  // namespace headwise
