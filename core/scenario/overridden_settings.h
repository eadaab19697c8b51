// Keys of a scenario that have no effect, because another key or an array overrides them: inputs.query_length
// beside a text.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/scenario_inputs.h"

namespace headwise {

// Which inputs and parameters a scenario generated, and how; and which of them hardly belong beside the given
// ones.

// Names of arrays that can be given: the inputs query, key and value, and the parameters of the module.
std::span<const std::string_view> input_array_names();
std::span<const std::string_view> parameter_array_names();

// The recipe of a given array (core/scenario/scenario_inputs.h) begins so.
inline constexpr std::string_view given_recipe = "given";

// Where the tensor of this name comes from; `absent` if the inputs have none, or a model computed it.
enum class ArrayOrigin { absent, given, generated };
ArrayOrigin array_origin(const ScenarioInputs& inputs, std::string_view name);

// Whether nothing reads an array of this name: most likely it has the name of another program. The trace's
// own names are accepted, so that a file written by `run` can be passed back.
bool is_foreign_name(const std::string& name);
// The name of a given array that another program's name stands for: "query" for "Q", "in_proj_weight" for
// "layer.self_attn.in_proj_weight"; "" if none is near.
std::string nearest_given_name(const std::string& name);

// An input or a parameter that was generated although another of its kind was given, or an array of a foreign
// name.
struct MadeUpArray {
  std::string name, how;  // "out_proj.bias", "all zeros"
};
std::vector<MadeUpArray> made_up_arrays(const Scenario& scenario, const ScenarioInputs& inputs,
                                        const GivenArrays& given);

// The keys and arrays that the user wrote, by where.
struct WrittenByUser {
  std::set<std::string> file;      // keys of a scenario file
  std::set<std::string> settings;  // keys of --set
  std::set<std::string> input;     // arrays of --input
};

// One line per key that the user wrote and that has no effect, with what overrides it and what to do about
// it. Keys of a scenario file that the command line overrides are left out: that is what --set and --input
// are for. `inputs` are those that the scenario made.
std::vector<std::string> overridden_settings(const Scenario& scenario, const ScenarioInputs& inputs,
                                             const WrittenByUser& written);

}  // namespace headwise
