// What a layer of a model determines and a scenario leaves open: heads, scale, softcap, masks, positions, self- or cross-attention. The
// chosen layer fills in keys that the user did not set; keys set differently are respected and reported.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/scenario.h"

namespace headwise {

// The scenario with the values of the layer that parameters.layer names, in keys that the user did not set: those that are not in
// origin.written and still have the values of the previous layer (origin.layer), or their defaults. Unchanged if its parameters are not a
// model's, or the layer cannot be computed. Throws Error(input) if the model cannot be opened or its config.json is invalid.
Scenario with_layer_values(const Scenario& scenario);

// Whether a layer determines this key: "mask.is_causal".
bool is_layer_key(std::string_view path);

// Copies the keys determined by a layer from one scenario to another, except those in `kept`.
void copy_layer_keys(const Scenario& from, Scenario& to, const std::set<std::string>& kept = {});

// Notes on the layer that a scenario names.
struct LayerNotes {
  std::vector<std::string> not_computed;  // what the model's attention has beyond what is computed here, one line each
  std::string differences;  // how the scenario differs from the layer, one line; empty: not at all
};

// `tokens`: the number of keys. Empty if the parameters are not a model's or the layer cannot be computed. Throws like with_layer_values.
LayerNotes notes_on_layer(const Scenario& scenario, std::int64_t tokens);

}  // namespace headwise
