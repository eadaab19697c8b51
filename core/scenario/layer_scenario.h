// Layers of models (core/model) as scenarios: the layer's own parameters, with inputs chosen by the user.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/layers/attention_layers.h"
#include "core/model/layers/layer_parameters.h"
#include "core/scenario/scenario.h"

namespace headwise {

// Whether its parameters are a model's; and whether it names a model at all,
// even if it now uses other parameters.
bool is_of_model(const Scenario& scenario);
bool names_a_model(const Scenario& scenario);

// A scenario with the parameters of layer `layer` of the model at `path`: sizes, scale, bias, rotary
// positions and masks are the model's (core/model/layers/layer_attention.h), inputs are random. If the number
// of heads is not given, the likeliest one is used. Throws Error(input)
// if there is no such layer or it cannot be used.
Scenario layer_scenario(const std::string& path, const AttentionLayers& layers, Index layer);

// The first usable layer; 0 if there is none.
Index first_usable_layer(const AttentionLayers& layers);

// The scenario for opening a model: its first usable layer and, if the model accepts text, a text as its
// input: an example of its task if `headwise train` wrote it. Throws Error(input) like
// layer_scenario: where no layer is usable, of the one that is asked for, else of layer 0.
Scenario opened_model_scenario(const std::string& path, const AttentionLayers& layers,
                               std::optional<Index> asked = {});

// The layer that parameters.layer names, with the scenario's heads if the model does not give them.
// Throws Error(input).
AttentionLayer layer_of_scenario(const Scenario& scenario, const std::string& path,
                                 const AttentionLayers& layers);

// The same layer split into this many heads.
void set_heads(AttentionSpec& attention, const HeadChoice& heads);

// A note on the heads of a layer, one line: that the model was trained with another number, or that nothing
// gives the number. `layer` as in the model's files; empty if there is nothing to note.
std::string head_count_note(const Scenario& scenario, const AttentionLayer& layer,
                            const AttentionOptions& options);
// Whether neither the model nor the scenario gives the number of heads.
bool heads_are_assumed(const Scenario& scenario, const AttentionLayer& layer);
inline constexpr const char* num_heads_path = "attention.num_heads";
inline constexpr std::array head_size_paths{"attention.num_kv_heads", "attention.head_dim",
                                            "attention.v_head_dim"};

// What a layer of a model determines and a scenario leaves open: heads, how scores are made, masks,
// positions, self- or cross-attention. The chosen layer fills in keys that the user did not set; keys set
// differently are respected and reported.

// The scenario with the values of the layer that parameters.layer names, in keys that the user did not set:
// those that are not in origin.written and still have the values of the previous layer (origin.layer), or
// their defaults. Unchanged if its parameters are not a model's, or the layer cannot be computed. Throws
// Error(input) if the model cannot be opened or its config.json is invalid.
Scenario with_layer_values(const Scenario& scenario);

// Whether a layer determines this key: "mask.is_causal".
bool is_layer_key(std::string_view path);

// Those of them that the user set, in a file or in the window.
std::set<std::string> own_keys_of(const Scenario& scenario);

// Copies the keys determined by a layer from one scenario to another, except those in `kept`.
void copy_layer_keys(const Scenario& from, Scenario& to, const std::set<std::string>& kept = {});

// Notes on the layer that a scenario names.
struct LayerNotes {
  // what the model's attention has beyond what is computed here, one line each
  std::vector<std::string> not_computed;
  std::string differences;  // how the scenario differs from the layer, one line; empty: not at all
};

// `tokens`: the number of keys. Empty if the parameters are not a model's or the layer cannot be computed.
// Throws like with_layer_values.
LayerNotes notes_on_layer(const Scenario& scenario, std::int64_t tokens);

}  // namespace headwise
