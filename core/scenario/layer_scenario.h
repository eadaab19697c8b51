// Layers of models (core/model) as scenarios: the layer's own parameters, with inputs of the person's choice.
#pragma once

#include <array>
#include <string>

#include "core/model/layers/attention_layers.h"
#include "core/model/layers/head_choices.h"
#include "core/scenario/scenario.h"

namespace headwise {

// Whether its parameters are a model's; and whether it names a model at all, whose parameters it may have given up for others.
bool is_of_model(const Scenario& scenario);
bool names_a_model(const Scenario& scenario);

// A scenario whose parameters are those of layer `layer` of the model at `path`: sizes, scale, bias, rotary positions and masks as the model
// has them (core/model/layers/layer_attention.h), random inputs. Where nothing says how many heads there are, the likeliest number. Throws Error(input) where there is no such layer or it cannot be computed with.
Scenario layer_scenario(const std::string& path, const AttentionLayers& layers, Index layer);

// The first layer that can be computed with; 0 where none can.
Index first_sound_layer(const AttentionLayers& layers);

// What a model is opened with: its first sound layer, and where the model takes a text, that text goes through it.
// Throws Error(input) as layer_scenario.
Scenario opened_model_scenario(const std::string& path, const AttentionLayers& layers);

// The layer that parameters.layer names, with the scenario's heads where the model does not tell them. Throws Error(input).
AttentionLayer layer_of_scenario(const Scenario& scenario, const std::string& path,
                                 const AttentionLayers& layers);

// The same layer cut into so many heads.
void set_heads(AttentionSpec& attention, const HeadChoice& heads);

// What a person should know of the heads of a layer, one line: that the model was trained with another number, or that
// nothing says how many there are. `layer` as the model's files have it; empty where nothing is to be said.
std::string told_of_heads(const Scenario& scenario, const AttentionLayer& layer,
                          const AttentionOptions& options);
// Whether nothing says how many heads there are, neither the model nor the scenario.
bool heads_are_assumed(const Scenario& scenario, const AttentionLayer& layer);
inline constexpr const char* num_heads_path = "attention.num_heads";
inline constexpr std::array head_size_paths{"attention.num_kv_heads", "attention.head_dim",
                                            "attention.v_head_dim"};

}  // namespace headwise
