// What a layer of a model decides and a scenario leaves open: heads, scale, softcap, masks, positions, self- or cross-attention. The
// chosen layer fills in what nobody wrote; what somebody wrote against it is obeyed, and told.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/scenario.h"

namespace headwise {

// The scenario with the values of the layer that parameters.layer names, where nobody wrote others: keys that are not in
// origin.written and still have the values of the layer before (origin.layer), or their defaults. Unchanged where its parameters are no
// model's, or the layer cannot be computed. Throws Error(input) where the model cannot be opened or its config.json is wrong.
Scenario with_layer_values(const Scenario& scenario);

// Whether a layer decides about this key: "mask.is_causal".
bool is_layer_key(std::string_view path);

// Copies from one scenario to another the keys that a layer decides about, except for those in `kept`.
void copy_layer_keys(const Scenario& from, Scenario& to, const std::set<std::string>& kept = {});

// What a person should know of the layer that a scenario names.
struct LayerNotes {
  std::vector<std::string> not_computed;  // what the model's attention has beyond the numbers here, one line each
  std::string differences;  // what the scenario has otherwise than the layer, one line; empty: nothing
};

// `tokens`: how many keys there are. Nothing where the parameters are no model's or the layer cannot be computed. Throws as with_layer_values.
LayerNotes notes_on_layer(const Scenario& scenario, std::int64_t tokens);

}  // namespace headwise
