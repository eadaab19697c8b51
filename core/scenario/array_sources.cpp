#include "core/scenario/array_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "core/files/element_type.h"
#include "core/files/file_paths.h"
#include "core/files/unread_entries.h"
#include "core/model/files/model_state.h"
#include "core/model/layers/layer_parameters.h"
#include "core/scenario/given_arrays.h"
#include "core/scenario/layer_scenario.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Names = std::initializer_list<const char*>;

constexpr Names input_names{"query", "key", "value", "grad_output"};
constexpr Names parameter_names{"in_proj_weight", "q_proj_weight",   "k_proj_weight", "v_proj_weight",
                                "in_proj_bias",   "bias_k",          "bias_v",        "static_k",
                                "static_v",       "out_proj.weight", "out_proj.bias"};
constexpr const char* frozen_weights_name = "frozen_weights";
constexpr Names mask_names{"attn_mask", "key_padding_mask", "valid_lens"};

const ArrayFile& opened(const std::string& path, const ArrayFiles* earlier, ArrayFiles& files) {
  const auto open = files.find(path);
  if (open != files.end()) return open->second;
  ArrayFile file;
  file.state = file_state(path);
  if (earlier != nullptr) {
    const auto same = earlier->find(path);
    if (same != earlier->end() && same->second.state == file.state) {
      return files[path] = same->second;
    }
  }
  std::vector<UnreadEntry> unread;
  for (const NamedTensor& array : read_array_file(path, unread)) file.arrays[array.name] = array.tensor;
  const auto names = given_array_names();
  for (const UnreadEntry& entry : unread)
    if (std::ranges::count(names, entry.name) > 0) throw NotNumbers({.what = entry.why});
  return files[path] = std::move(file);
}

// Parameters of a model's layer; a layer already read whose files have not changed is not read again.
const ArrayFile& opened_layer(const Scenario& scenario, const std::string& path, const ArrayFiles* earlier,
                              ArrayFiles& files) {
  const AttentionSpec& a = scenario.attention;
  const std::string key = fmt::format("{}\n{} {} {}", path, scenario.parameters.layer, a.num_heads,
                                      a.num_kv_heads.value_or(a.num_heads));
  ArrayFile layer;
  layer.state = model_state(path);
  if (earlier != nullptr) {
    const auto same = earlier->find(key);
    if (same != earlier->end() && same->second.state == layer.state) return files[key] = same->second;
  }
  const ModelFiles model(path);
  const AttentionLayers layers = find_attention_layers(model);
  layer.arrays = read_layer_parameters(model, layer_of_scenario(scenario, path, layers));
  layer.layer = std::make_shared<const AttentionLayer>(
      layers.layers[static_cast<std::size_t>(scenario.parameters.layer)]);
  return files[key] = std::move(layer);
}

[[noreturn]] void missing(const std::string& path, const std::string& what, const GivenArrays& arrays) {
  std::vector<std::string> there;
  for (const auto& [name, unused] : arrays) there.push_back(name);
  throw Error(
      ExitStatus::input,
      {.where = path, .what = what + " is missing", .got = there.empty() ? "no arrays" : join(there, ", ")});
}

// Adds those of `names` that the file has and that are not given already.
Index add(GivenArrays& all, const GivenArrays& from, Names names) {
  Index found = 0;
  for (const char* name : names) {
    const auto array = from.find(name);
    if (array == from.end()) continue;
    ++found;
    all.insert(*array);
  }
  return found;
}

// Inputs as usually written, or as in a trace: those of scaled_dot_product_attention under the names of the heads, those
// of self-attention three times.
void add_inputs(GivenArrays& all, const GivenArrays& from, const Scenario& scenario) {
  GivenArrays inputs;
  add(inputs, from, input_names);
  const auto named = [&](const char* name) {
    const auto found = from.find(name);
    return found == from.end() ? nullptr : found->second;
  };
  if (scenario.op == Op::scaled_dot_product_attention && !named("query") && named("q_heads"))
    inputs.insert({{"query", named("q_heads")}, {"key", named("k_heads")}, {"value", named("v_heads")}});
  const auto same = [&](const char* name) {
    const TensorPtr query = named("query"), other = named(name);
    return query && other && query->dtype() == other->dtype() &&
           query->shape().sizes() == other->shape().sizes() &&
           identical(*query, other->reshaped(query->shape()));
  };
  if (scenario.op == Op::multi_head_attention && scenario.inputs.self_attention && same("key") &&
      same("value")) {
    inputs.erase("key");
    inputs.erase("value");
  }
  std::erase_if(inputs, [](const auto& entry) { return !entry.second; });
  all.merge(inputs);
}

}  // namespace

GivenArrays gather_arrays(const Scenario& scenario, const GivenArrays& given, const ArrayFiles* earlier,
                          ArrayFiles& files) {
  GivenArrays all = given;
  const auto path_of = [&](const std::string& file) { return path_from(scenario.origin.folder, file); };
  if (scenario.inputs.source == InputSource::file && scenario.inputs.file) {
    const std::string path = path_of(*scenario.inputs.file);
    const GivenArrays& arrays = opened(path, earlier, files).arrays;
    add_inputs(all, arrays, scenario);
    if (!all.contains("query")) missing(path, "query", arrays);
  }
  if (scenario.op == Op::multi_head_attention && scenario.parameters.source == ParameterSource::file &&
      scenario.parameters.file) {
    const std::string path = path_of(*scenario.parameters.file);
    const GivenArrays& arrays = opened(path, earlier, files).arrays;
    // Packed or separate is decided by the higher priority: one of the two from --input hides the other in the file.
    const bool separate_given =
        all.contains("q_proj_weight") || all.contains("k_proj_weight") || all.contains("v_proj_weight");
    const bool packed_given = all.contains("in_proj_weight");
    GivenArrays parameters;
    add(parameters, arrays, parameter_names);
    if (separate_given) parameters.erase("in_proj_weight");
    if (packed_given) {
      for (const char* name : {"q_proj_weight", "k_proj_weight", "v_proj_weight"}) parameters.erase(name);
    }
    all.merge(parameters);
    if (!all.contains("out_proj.weight")) missing(path, "out_proj.weight", arrays);
    if (!all.contains("in_proj_weight")) {
      for (const char* name : {"q_proj_weight", "k_proj_weight", "v_proj_weight"}) {
        const bool replaced =
            (name[0] == 'k' && all.contains("static_k")) || (name[0] == 'v' && all.contains("static_v"));
        if (!all.contains(name) && !replaced)
          missing(path, std::string("in_proj_weight, or ") + name + ",", arrays);
      }
    }
  }
  if (scenario.op == Op::multi_head_attention && is_of_model(scenario)) {
    GivenArrays parameters = opened_layer(scenario, path_of(*scenario.parameters.file), earlier, files).arrays;
    all.merge(parameters);
  }
  if (scenario.mask.file) {
    const std::string path = path_of(*scenario.mask.file);
    const GivenArrays& arrays = opened(path, earlier, files).arrays;
    if (add(all, arrays, mask_names) == 0) missing(path, "attn_mask, key_padding_mask or valid_lens", arrays);
  }
  if (scenario.frozen_heads && scenario.frozen_heads->file) {
    const std::string path = path_of(*scenario.frozen_heads->file);
    const GivenArrays& arrays = opened(path, earlier, files).arrays;
    if (add(all, arrays, {frozen_weights_name}) == 0) missing(path, frozen_weights_name, arrays);
  }
  if (scenario.frozen_heads && scenario.frozen_heads->attn_weights)
    all.emplace(frozen_weights_name, scenario.frozen_heads->attn_weights);
  return all;
}

}  // namespace headwise
