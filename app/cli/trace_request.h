// The flags that `run`, `export` and `compare` share: a scenario, arrays from files, settings,
// and how to compute.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_options.h"
#include "app/cli/standard_streams.h"
#include "core/attention/trace.h"
#include "core/scenario/run_record.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"

namespace headwise {

struct TraceRequest {
  std::string scenario;               // a file, or the name of a preset
  std::vector<std::string> inputs;    // array files
  std::vector<std::string> settings;  // PATH=VALUE
  std::string backend = "reference";
  std::string dtype = "f32";
  bool backward = false;
  bool strict = false;    // warnings are errors
  bool compares = false;  // numbers that nobody gave or chose are an error
  // Called once the inputs are known, before anything is computed: throws if what is wanted of the trace
  // cannot be had.
  std::function<void(const ScenarioInputs&)> check = {};
};

// `request` must outlive parsing.
void add_trace_flags(CommandOptions& options, TraceRequest& request);

// The scenario itself, with its settings. Throws Error(usage).
Scenario requested_scenario(const TraceRequest& request);
// The two steps of that: the scenario as named, and with the request's settings applied.
Scenario named_scenario(const std::string& name, const std::vector<std::string>& settings = {});
Scenario with_settings(const TraceRequest& request, Scenario scenario);

// Which file holds which array.
class ArrayOrigins {
 public:
  // Throws Error(input) if another file holds an array of this name.
  void add(const std::string& name, const std::string& path);

 private:
  std::map<std::string, std::string> paths_;
};

// Throws Error(usage) if the file to be written is one of the --input files: what it has would be lost.
void keep_inputs(const TraceRequest& request, const std::string& output);

// The tensor that an argument names; throws Error(usage), naming the option, if there is none of that name or
// it is a gradient and no gradients are computed.
TensorName requested_tensor(const TraceRequest& request, const std::string& option, const std::string& word);

// Whether an argument names a scenario: standard input, a preset not shadowed by a file,
// or a file that ends in .json.
bool names_scenario(const std::string& name);

// The arrays that the scenario generates and is given, with nothing computed yet; the notes are added to
// `warnings`. Throws Error(usage), Error(input), also for a warning if the request is strict, Error(memory).
ScenarioInputs read_inputs(const TraceRequest& request, Warnings& warnings);

struct ComputedTrace {
  ScenarioInputs inputs;
  TracePtr trace;
  Scenario scenario;               // with its settings
  std::vector<std::string> given;  // the arrays read from the --input files
  bool batch_first = true;         // the scenario's layout of inputs and outputs
  // Every warning printed for this run: about the inputs, the backend, the trace; each once.
  std::vector<std::string> warnings;
};

// The record of this run that its files carry.
RunRecord record_of(const ComputedTrace& computed);

// Reads the files, creates the inputs and computes; prints the warnings as they arise. Tensors in `needed`
// (none: every tensor) that a fast backend does not keep are recomputed by the reference; what it cannot do
// at all is left to the reference, with a warning. Throws Error(usage), Error(input), also for a warning if
// the request is strict, Error(memory).
ComputedTrace compute_trace(const TraceRequest& request,
                            const std::optional<std::vector<TensorName>>& needed = {});
// The same for `scenario` instead of the request's own.
// What it has in common with `previous` (may be null) is shared.
ComputedTrace compute_trace(const TraceRequest& request, const Scenario& scenario,
                            const std::optional<std::vector<TensorName>>& needed, Warnings& warnings,
                            const ScenarioInputs* previous = nullptr);

// Says on stderr which text is used if a model is named instead of a scenario and the request gives none.
void print_model_text(const TraceRequest& request, const Scenario& scenario);

// run and compare --layers: which layers of a model to run, and a request for each of them.

struct LayerChoice {
  std::vector<Index> layers;  // in ascending order, each once
  bool all = false;           // none were named: one that cannot be computed is skipped
};

// "all", or comma-separated numbers, of the scenario's model. Throws Error(usage): malformed layer numbers, a
// scenario without a model, a request that also sets the layer; Error(input): the model has no such layer.
LayerChoice chosen_layers(const TraceRequest& request, const Scenario& scenario, const std::string& words);

// Calls run(layer, request, shared) for each of these layers. Its request sets parameters.layer before all
// other settings; `shared` (may be null) is what its inputs share with a pass of the text through the model,
// for compute_trace. If all layers were asked for, one that cannot be computed is skipped with a warning,
// unless the request is strict; returns the last such error. Throws Error(input), Error(memory).
std::optional<Error> for_layers(
    const LayerChoice& choice, const TraceRequest& request, const Scenario& scenario, Warnings& warnings,
    const std::function<void(Index layer, TraceRequest request, const ScenarioInputs* shared)>& run);

}  // namespace headwise
