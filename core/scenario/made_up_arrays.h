// Which inputs and parameters a scenario generated, and how; and which of them hardly belong beside the given
// ones.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/scenario_inputs.h"

namespace headwise {

// Names of arrays that can be given: the inputs query, key and value, and the parameters of the module.
std::span<const std::string_view> input_array_names();
std::span<const std::string_view> parameter_array_names();

// The recipe of a given array (core/scenario/made_tensors.h) begins so.
inline constexpr std::string_view given_recipe = "given";

// Where the tensor of this name comes from; `absent` if the inputs have none, or a model computed it.
enum class ArrayOrigin { absent, given, generated };
ArrayOrigin array_origin(const ScenarioInputs& inputs, std::string_view name);

// Whether nothing reads an array of this name: most likely it has the name of another program. The trace's
// own names are accepted, so that a file written by `run` can be passed back.
bool is_foreign_name(const std::string& name);
// The name of a given array that another program's name stands for: "query" for "Q", "in_proj_weight" for
// "layer.self_attn.in_proj_weight"; "" if none is near.
std::string given_name_meant(const std::string& name);

// An input or a parameter that was generated although another of its kind was given, or an array of a foreign
// name.
struct MadeUpArray {
  std::string name, how;  // "out_proj.bias", "all zeros"
};
std::vector<MadeUpArray> made_up_arrays(const Scenario& scenario, const ScenarioInputs& inputs,
                                        const GivenArrays& given);

}  // namespace headwise
