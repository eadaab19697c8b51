// Edits of a scenario's head gains: used by the dot of a thumbnail, its double click and the keys.
#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace headwise {

// 1 if the scenario says nothing about that head.
double head_gain_of(const Scenario& scenario, std::int64_t head);

// An edit of one head.
struct HeadEdit {
  Scenario scenario;
  std::string label;  // what undo shows: "mute head 5"; empty if nothing changes
};

// Any gain; a drag through several values is one step, by its label.
HeadEdit set_head_gain(const Scenario& scenario, std::int64_t head, double gain);
// Unmutes a muted head (gain 1), mutes any other (gain 0). Gains that are all 1 are written as null.
HeadEdit toggle_mute(const Scenario& scenario, std::int64_t head);
// Mutes all heads but this one; if it is already the only active one, unmutes all.
HeadEdit toggle_solo(const Scenario& scenario, std::int64_t head);

}  // namespace headwise
