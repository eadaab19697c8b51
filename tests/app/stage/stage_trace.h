// A small scenario with its trace, for tests of what the stage shows.
#pragma once

#include <initializer_list>
#include <string>

#include "core/attention/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"

namespace headwise {

struct TracedScenario {
  Scenario scenario;
  ScenarioInputs inputs;
  TracePtr trace;
};

// embed_dim 12, 3 heads, 4 queries, then the settings as --set takes them: "attention.num_heads=4".
inline TracedScenario traced(std::initializer_list<std::string> settings = {}) {
  TracedScenario result;
  for (const char* small : {"attention.embed_dim=12", "attention.num_heads=3", "inputs.query_length=4"})
    result.scenario = with_setting(result.scenario, small);
  for (const std::string& setting : settings) result.scenario = with_setting(result.scenario, setting);
  result.inputs = make_scenario_inputs(result.scenario, DType::f32);
  result.trace = reference_forward(result.inputs.attention);
  return result;
}

}  // namespace headwise
