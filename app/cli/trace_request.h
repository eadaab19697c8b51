// The flags that `run`, `export` and `compare` share: a scenario, arrays from files, settings, and how to compute.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_options.h"
#include "app/cli/warnings.h"
#include "core/scenario/run_record.h"
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
void add_trace_flags(CommandOptions& options, TraceRequest& request);

// The scenario itself, with its settings. Throws Error(usage).
Scenario requested_scenario(const TraceRequest& request);
// Its two steps: the scenario as it is named, and with the request's settings.
Scenario named_scenario(const std::string& name);
Scenario with_settings(const TraceRequest& request, Scenario scenario);

// The tensor that a word names; throws Error(usage), naming the option, where there is none of that name or
// it is a gradient and no gradients are computed.
TensorName requested_tensor(const TraceRequest& request, const std::string& option, const std::string& word);

// Whether a word names a scenario: standard input, a preset that no file stands before, or a file that ends in .json.
bool names_scenario(const std::string& name);

// The arrays that the scenario makes and is given, nothing computed yet; `warnings` gets the notes. Throws Error(usage),
// Error(input), also for a warning where the request is strict, Error(memory).
ScenarioInputs read_inputs(const TraceRequest& request, Warnings& warnings);

struct ComputedTrace {
  ScenarioInputs inputs;
  TracePtr trace;
  Scenario scenario;               // with its settings
  std::vector<std::string> given;  // the arrays of the --input files that are read
  bool batch_first = true;         // the scenario's layout of inputs and outputs
  // Everything that was printed as a warning for this run: of the inputs, of the backend, of the trace; each once.
  std::vector<std::string> warnings;
};

// What a file of this run says of it.
RunRecord record_of(const ComputedTrace& computed);

// Reads the files, makes the inputs and computes; prints the warnings as they arise. What a fast backend does not keep and `needed`
// names (none: every tensor) the reference computes again; what it cannot do at all the reference does, with a warning.
// Throws Error(usage), Error(input), also for a warning where the request is strict, Error(memory).
ComputedTrace compute_trace(const TraceRequest& request,
                            const std::optional<std::vector<TensorName>>& needed = {});
// The same of `scenario` in the place of the request's own. What it has in common with `previous` (may be null) is shared.
ComputedTrace compute_trace(const TraceRequest& request, const Scenario& scenario,
                            const std::optional<std::vector<TensorName>>& needed, Warnings& warnings,
                            const ScenarioInputs* previous = nullptr);

// Says on stderr which text a model that is named in the place of a scenario reads, unless the request says it.
void tell_text_of_model(const TraceRequest& request, const Scenario& scenario);

}  // namespace headwise
