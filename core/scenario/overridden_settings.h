// Keys of a scenario that have no effect, because another key or an array overrides them: inputs.query_length
// beside a text.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/scenario/scenario_inputs.h"

namespace headwise {

// The keys and arrays that the user wrote, by where.
struct WrittenByUser {
  std::set<std::string> file;      // keys of a scenario file
  std::set<std::string> settings;  // keys of --set
  std::set<std::string> input;     // arrays of --input
};

// One line per key that the user wrote and that has no effect, with what overrides it and what to do about
// it. Keys of a scenario file that the command line overrides are left out: that is what --set and --input
// are for. `inputs` are those that the scenario made.
std::vector<std::string> overridden_settings(const Scenario& scenario, const ScenarioInputs& inputs,
                                             const WrittenByUser& written);

}  // namespace headwise
