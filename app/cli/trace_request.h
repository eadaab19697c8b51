// The flags that `run`, `export` and `compare` share: a scenario, arrays from files, settings, and how to compute.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/subcommand.h"
#include "app/cli/warnings.h"
#include "core/scenario/scenario_inputs.h"
#include "core/trace/trace.h"

namespace headwise {

struct TraceRequest {
  std::string scenario;               // a file, or the name of a preset
  std::vector<std::string> inputs;    // array files
  std::vector<std::string> settings;  // PATH=VALUE
  std::string backend = "reference";
  std::string dtype = "f32";
  bool backward = false;
  bool strict = false;  // warnings are errors
};

// `request` must live until the words are parsed.
void add_trace_flags(CLI::App& app, TraceRequest& request);

// The scenario itself, with its settings. Throws Error(usage).
Scenario requested_scenario(const TraceRequest& request);

// The tensor that a word names; throws Error(usage), naming the option, where there is none of that name or
// it is a gradient and no gradients are computed.
TensorName requested_tensor(const TraceRequest& request, const std::string& option, const std::string& word);

// Whether a word names a scenario: a preset that no file stands before, or a file that ends in .json.
bool names_scenario(const std::string& name);

// The arrays that the scenario makes and is given, nothing computed yet; `warnings` gets the notes. Throws Error(usage),
// Error(input), also for a warning where the request is strict, Error(memory).
ScenarioInputs read_inputs(const TraceRequest& request, Warnings& warnings);

struct ComputedTrace {
  ScenarioInputs inputs;
  TracePtr trace;
  bool batch_first = true;  // the scenario's layout of inputs and outputs
  // Everything that was printed as a warning for this run: of the inputs, of the backend, of the trace; each once.
  std::vector<std::string> warnings;
};

// Reads the files, makes the inputs and computes; prints the warnings as they arise. What a fast backend does not keep and `needed`
// names (none: every tensor) the reference computes again; what it cannot do at all the reference does, with a warning.
// Throws Error(usage), Error(input), also for a warning where the request is strict, Error(memory).
ComputedTrace compute_trace(const TraceRequest& request,
                            const std::optional<std::vector<TensorName>>& needed = {});

}  // namespace headwise
