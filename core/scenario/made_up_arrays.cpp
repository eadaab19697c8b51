#include "core/scenario/made_up_arrays.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/scenario/given_arrays.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/edit_distance.h"
#include "core/trace/tensor_names.h"

namespace headwise {
namespace {

constexpr std::size_t input_count = 3, parameter_count = 11;

std::string drawn(std::string_view distribution, std::uint64_t seed) {
  return fmt::format("drawn at random ({}, seed {})", distribution, seed);
}

std::string made_parameter_text(std::string_view name, const ParametersSpec& parameters) {
  const bool row = name == "bias_k" || name == "bias_v";  // appended to k and v, and not a bias of a projection
  if (!row && name.ends_with("bias")) return "all zeros";
  if (!row && parameters.source == ParameterSource::hand_made) return "as in the hand-made heads";
  if (parameters.init == Initialisation::identity) return row ? "all zeros" : "an identity matrix";
  return drawn(choice_name(parameters.init), parameters.seed);
}

std::string made_input_text(const InputsSpec& inputs) {
  switch (inputs.source) {
    case InputSource::text:
      return "made from the text, or drawn at random where the lengths differ";
    case InputSource::ones:
      return "all ones";
    case InputSource::uniform01:
      return drawn("uniform from 0 to 1", inputs.seed);
    default:
      return drawn("normal", inputs.seed);
  }
}

}  // namespace

std::span<const std::string_view> input_array_names() {
  return given_array_names().first(input_count);
}

std::span<const std::string_view> parameter_array_names() {
  return given_array_names().subspan(input_count, parameter_count);
}

ArrayOrigin array_origin(const ScenarioInputs& inputs, std::string_view name) {
  const auto made = inputs.made.find(std::string(name));
  if (made == inputs.made.end() || (name == "query" && inputs.model_input)) return ArrayOrigin::absent;
  return made->second.recipe.starts_with(given_recipe) ? ArrayOrigin::given : ArrayOrigin::generated;
}

bool is_foreign_name(const std::string& name) {
  const auto known = find_tensor_name(name);
  if (known && (known->gradient || tensor_entry(known->id).role == TensorRole::intermediate)) return false;
  return std::ranges::count(given_array_names(), name) == 0;
}

std::string given_name_meant(const std::string& name) {
  for (const auto& [letters, meant] : {std::pair("Qq", "query"), {"Kk", "key"}, {"Vv", "value"}})
    if (name.size() == 1 && std::string_view(letters).find(name[0]) != std::string_view::npos) return meant;
  const auto names = given_array_names();
  for (const std::string_view own : names)
    if (name.ends_with(fmt::format(".{}", own))) return std::string(own);
  return nearest_name(name, {names.begin(), names.end()});
}

std::vector<MadeUpArray> made_up_arrays(const Scenario& scenario, const ScenarioInputs& inputs,
                                        const GivenArrays& given) {
  std::vector<MadeUpArray> made_up;
  const bool foreign =
      std::ranges::any_of(given, [](const auto& array) { return is_foreign_name(array.first); });
  const auto add = [&](std::span<const std::string_view> kind, const auto& how) {
    const auto is = [&](ArrayOrigin origin) {
      return [&inputs, origin](std::string_view name) { return array_origin(inputs, name) == origin; };
    };
    if (!foreign && std::ranges::none_of(kind, is(ArrayOrigin::given))) return;
    for (const std::string_view name : kind)
      if (is(ArrayOrigin::generated)(name)) made_up.push_back({std::string(name), how(name)});
  };
  add(input_array_names(), [&](std::string_view) { return made_input_text(scenario.inputs); });
  add(parameter_array_names(),
      [&](std::string_view name) { return made_parameter_text(name, scenario.parameters); });
  return made_up;
}

}  // namespace headwise
