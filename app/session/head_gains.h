// Edits of a scenario's head gains: what the dot of a thumbnail, its double click and the keys do.
#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace headwise {

// 1 where the scenario says nothing about that head.
double head_gain_of(const Scenario& scenario, std::int64_t head);

// An edit of one head.
struct HeadEdit {
  Scenario scenario;
  std::string label;  // what undo shows: "mute head 5"; empty where nothing changes
};

// Any gain; a drag through several of them is one step, by its label.
HeadEdit set_head_gain(const Scenario& scenario, std::int64_t head, double gain);
// A silent head gets the gain 1 again, any other 0. Gains that are all 1 are written as null.
HeadEdit toggle_mute(const Scenario& scenario, std::int64_t head);
// All heads but this one become silent; where it is the only one left, all are heard again.
HeadEdit toggle_solo(const Scenario& scenario, std::int64_t head);

}  // namespace headwise
