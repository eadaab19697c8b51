// run and compare --layers: which layers of a model to run, and a request for each of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/cli/trace_request.h"

namespace headwise {

struct LayerChoice {
  std::vector<Index> layers;  // in ascending order, each once
  bool all = false;           // none were named: one that cannot be computed is skipped
};

// "all", or comma-separated numbers, of the scenario's model. Throws Error(usage): malformed layer numbers, a
// scenario without a model, a request that also sets the layer; Error(input): the model has no such layer.
LayerChoice chosen_layers(const TraceRequest& request, const Scenario& scenario, const std::string& words);

// A text's forward pass through a model, up to the last of some layers; empty if the scenario's text does not
// go through one.
class ModelPass {
 public:
  // Throws Error(input), Error(memory).
  static ModelPass to_last_of(const std::vector<Index>& layers, const Scenario& scenario);

  // What the inputs of `layer` can share with it, for compute_trace; null: nothing.
  std::unique_ptr<ScenarioInputs> given_to(Index layer) const;

 private:
  std::shared_ptr<const ModelInput> input_;  // of the last layer
  std::vector<TensorPtr> hidden_states_;
};

// The request for one layer, with --set parameters.layer=N before all other settings.
TraceRequest layer_request(const TraceRequest& request, Index layer);

}  // namespace headwise
