// run --layers: which layers of a model, and each of them as a request of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/cli/trace_request.h"

namespace headwise {

struct LayerChoice {
  std::vector<Index> layers;  // in ascending order, each once
  bool all = false;           // nobody named them: one that cannot be computed is left out
};

// "all", or numbers with commas between them, of the scenario's model. Throws Error(usage):
// no layers' numbers, a scenario without a model, a request that sets the layer too; Error(input): the model has no such
// layer.
LayerChoice chosen_layers(const TraceRequest& request, const Scenario& scenario, const std::string& words);

// A text's way through a model, as far as the last of some layers; empty where the scenario's text does not go through one.
class ModelPass {
 public:
  // Throws Error(input), Error(memory).
  static ModelPass to_last_of(const std::vector<Index>& layers, const Scenario& scenario);

  // What inputs of `layer` can share with it, for compute_trace; null: nothing.
  std::unique_ptr<ScenarioInputs> given_to(Index layer) const;

 private:
  std::shared_ptr<const ModelInput> input_;  // of the last layer
  std::vector<TensorPtr> hidden_states_;
};

// The request with the settings of one layer, as --set parameters.layer=N before all others.
TraceRequest layer_request(const TraceRequest& request, Index layer);

}  // namespace headwise
