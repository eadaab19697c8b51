// Describes the views of the stage, one row each: what the header, the palette and the tooltips call them,
// and how they treat the current step.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/lessons/stage_view.h"
#include "core/scenario/scenario.h"

namespace headwise {

// How a view treats the transition from step to step.
enum class StepMotion {
  shown,    // the picture shows how the step is computed
  unseen,   // it still runs, visible in the step bar only
  skipped,  // the step appears at once
};

struct StageViewEntry {
  StageView view;
  std::string_view name;           // above the stage: "One head"
  std::string_view short_name;     // the same where room is short: "one"
  std::string_view way;            // in the tooltip listing all views: "one head with its operands"
  std::string_view what;           // one line, in the palette
  StepMotion motion;               // between steps
  bool turns;                      // it shows the chosen tensor's map, whose queries may be columns
  bool of_head;                    // it shows the selected head by itself
  bool needs_model = false;        // offered only with a model
  std::string_view title = {};     // above the stage; empty: the name of the step
  std::string_view question = {};  // next to the title; empty: the question of the step
};

// In the order of StageView.
std::span<const StageViewEntry> stage_views();
const StageViewEntry& stage_view_entry(StageView view);

// Returns the views that this scenario offers, including the one that is shown.
std::vector<StageView> offered_views(const Scenario& scenario, StageView shown);

// Returns the next view that this scenario offers, wrapping around after the last.
StageView next_view(const Scenario& scenario, StageView shown);

// "one head with its operands, all heads side by side, …": all views, for a tooltip.
std::string list_of_views();

}  // namespace headwise
