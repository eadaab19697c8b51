#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "core/files/array_files.h"
#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/model/files/model_files.h"
#include "core/model/layers/layer_parameters.h"
#include "core/scenario/given_arrays.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/overridden_settings.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_plan.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 8> input_names{
    "query", "key", "value", "past_key", "past_value", "past_compressed_kv", "past_k_rot", "grad_output"};
constexpr std::array<std::string_view, 4> mask_names{"attn_mask", "key_padding_mask", "valid_lens",
                                                     "nonpad_kv_seqlen"};
constexpr std::array<std::string_view, 1> frozen_names{"frozen_weights"};

// The file as `earlier` has it if it is in the same state, else as `open` opens it.
template <class Open>
const ArrayFile& opened(const std::string& key, const FileState& state, const ArrayFiles* earlier,
                        ArrayFiles& files, Open open) {
  const auto there = files.find(key);
  if (there != files.end()) return there->second;
  if (earlier != nullptr) {
    const auto same = earlier->find(key);
    if (same != earlier->end() && same->second.state == state) return files[key] = same->second;
  }
  ArrayFile file = open();
  file.state = state;
  return files[key] = std::move(file);
}

const ArrayFile& opened(const std::string& path, const ArrayFiles* earlier, ArrayFiles& files) {
  return opened(path, file_state(path), earlier, files, [&] { return open_array_file(path); });
}

// Parameters of a model's layer, in the files of a model that are read when one of them is needed.
ArrayFile open_layer(const Scenario& scenario, const std::string& path) {
  const auto model = std::make_shared<const ModelFiles>(path);
  const AttentionLayers layers = find_attention_layers(*model);
  const AttentionLayer layer = layer_of_scenario(scenario, path, layers);
  using Parameters = std::map<std::string, TensorPtr>;
  const auto read =
      std::make_shared<ReadOnce<Parameters>>([model, layer] { return read_layer_parameters(*model, layer); });
  ArrayFile opened;
  for (const auto& [name, outline] : layer_parameter_outlines(*model, layer))
    opened.arrays[name] = {*outline, [read, name = name] { return read->get().at(name); }};
  opened.layer = std::make_shared<const AttentionLayer>(
      layers.layers[static_cast<std::size_t>(scenario.parameters.layer)]);
  return opened;
}

const ArrayFile& layer_file(const Scenario& scenario, const std::string& path, const ArrayFiles* earlier,
                            ArrayFiles& files) {
  const AttentionSpec& a = scenario.attention;
  const std::string key = fmt::format("{}\n{} {} {}", path, scenario.parameters.layer, a.num_heads,
                                      a.num_kv_heads.value_or(a.num_heads));
  return opened(key, model_state(path), earlier, files, [&] { return open_layer(scenario, path); });
}

bool has_any(const GivenArrays& arrays, Names names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return arrays.contains(std::string(name)); });
}

// Refuses a file that lacks an array it is opened for. A file without any of them was named under the wrong
// key if it has those of another.
[[noreturn]] void missing(const std::string& path, const std::string& what, const GivenArrays& arrays,
                          Names wanted) {
  std::vector<std::string> there;
  for (const auto& [name, unused] : arrays) there.push_back(name);
  std::string remedy = "add it to the file, or give it with --input";
  const std::pair<Names, const char*> others[]{
      {input_names, "inputs: name it in inputs.file, with inputs.source=file"},
      {parameter_array_names(), "parameters: name it in parameters.file, with parameters.source=file"},
      {mask_names, "masks: name it in mask.file"}};
  const auto kind =
      std::ranges::find_if(others, [&](const auto& other) { return has_any(arrays, other.first); });
  if (!has_any(arrays, wanted) && kind != std::end(others))
    remedy = fmt::format("the file holds {}", kind->second);
  if (wanted.data() == input_names.data())
    remedy += "; or have the inputs made, with inputs.source=text or random";
  refuse_input(path, what + " is missing", there.empty() ? "no arrays" : join(there, ", "),
               "arrays named " + join(wanted, ", "), remedy);
}

// Adds those of `names` that the file has and that are not given already.
Index add(GivenArrays& all, const GivenArrays& from, Names names) {
  Index found = 0;
  for (const std::string_view name : names) {
    const auto array = from.find(std::string(name));
    if (array == from.end()) continue;
    ++found;
    all.insert(*array);
  }
  return found;
}

// Inputs as usually written, or as in a trace: those of scaled_dot_product_attention under the names of the
// heads.
void add_inputs(GivenArrays& all, const GivenArrays& from, const Scenario& scenario) {
  if (scenario.op == Op::scaled_dot_product_attention && !from.contains("query") && from.contains("q_heads")) {
    for (const auto& [name, heads] : {std::pair("query", "q_heads"), {"key", "k_heads"}, {"value", "v_heads"}})
      if (const auto found = from.find(heads); found != from.end()) all.emplace(name, found->second);
  }
  add(all, from, input_names);
}

}  // namespace

ArrayFile open_array_file(const std::string& path) {
  ArrayFile opened;
  for (LazyArray& entry : open_arrays(path, opened.unread))
    opened.arrays[entry.name] = std::move(entry.array);
  return opened;
}

bool erase_repeated_query(const Scenario& scenario, const GivenArrays& given, GivenArrays& gathered) {
  if (!projects(scenario.op) || scenario.inputs.source != InputSource::file || !scenario.inputs.self_attention)
    return false;
  const auto is_query = [&](const char* name) {
    const auto query = gathered.find("query"), other = gathered.find(name);
    if (given.contains(name) || query == gathered.end() || other == gathered.end()) return false;
    const Tensor &ours = query->second.outline(), &theirs = other->second.outline();
    return ours.dtype() == theirs.dtype() && ours.shape().sizes() == theirs.shape().sizes() &&
           identical(*query->second.tensor(), other->second.tensor()->reshaped(ours.shape()));
  };
  const bool latent = is_latent(scenario.op);
  if (!is_query("key") || !(latent ? !gathered.contains("value") : is_query("value"))) return false;
  gathered.erase("key");
  gathered.erase("value");
  return true;
}

GivenArrays gather_arrays(const Scenario& scenario, const GivenArrays& given, const ArrayFiles* earlier,
                          ArrayFiles& files) {
  GivenArrays all = given;
  const auto path_of = [&](const std::string& file) { return path_from(scenario.origin.folder, file); };
  // The arrays of a file that is opened for those of these names.
  const auto arrays_for = [&](const std::string& path, Names names) -> const GivenArrays& {
    const ArrayFile& file = opened(path, earlier, files);
    require_readable_names(file, names, all);
    return file.arrays;
  };
  if (scenario.inputs.source == InputSource::file && scenario.inputs.file) {
    const std::string path = path_of(*scenario.inputs.file);
    const GivenArrays& arrays = arrays_for(path, input_names);
    add_inputs(all, arrays, scenario);
    if (!all.contains("query")) missing(path, "query", arrays, Names(input_names).first(3));
  }
  if (projects(scenario.op) && scenario.parameters.source == ParameterSource::file && scenario.parameters.file) {
    const std::string path = path_of(*scenario.parameters.file);
    const GivenArrays& arrays = arrays_for(path, parameter_array_names());
    // Packed or separate is decided by the higher priority:
    // one of the two from --input hides the other in the file.
    const bool separate_given =
        all.contains("q_proj_weight") || all.contains("k_proj_weight") || all.contains("v_proj_weight");
    const bool packed_given = all.contains("in_proj_weight");
    GivenArrays parameters;
    add(parameters, arrays, parameter_array_names());
    if (separate_given) parameters.erase("in_proj_weight");
    if (packed_given)
      for (const char* name : {"q_proj_weight", "k_proj_weight", "v_proj_weight"}) parameters.erase(name);
    all.merge(parameters);
    if (!all.contains("out_proj.weight")) missing(path, "out_proj.weight", arrays, parameter_array_names());
    if (is_latent(scenario.op)) {
      for (const char* name : {"kv_a_proj_with_mqa.weight", "kv_b_proj.weight"})
        if (!all.contains(name)) missing(path, name, arrays, parameter_array_names());
    } else if (!all.contains("in_proj_weight")) {
      for (const char* name : {"q_proj_weight", "k_proj_weight", "v_proj_weight"}) {
        const bool replaced =
            (name[0] == 'k' && all.contains("static_k")) || (name[0] == 'v' && all.contains("static_v"));
        if (!all.contains(name) && !replaced)
          missing(path, std::string("in_proj_weight, or ") + name + ",", arrays, parameter_array_names());
      }
    }
  }
  if (projects(scenario.op) && is_of_model(scenario)) {
    GivenArrays parameters = layer_file(scenario, path_of(*scenario.parameters.file), earlier, files).arrays;
    all.merge(parameters);
  }
  if (scenario.mask.file) {
    const std::string path = path_of(*scenario.mask.file);
    const GivenArrays& arrays = arrays_for(path, mask_names);
    if (add(all, arrays, mask_names) == 0)
      missing(path, "attn_mask, key_padding_mask, valid_lens or nonpad_kv_seqlen", arrays, mask_names);
  }
  if (scenario.frozen_heads && scenario.frozen_heads->file) {
    const std::string path = path_of(*scenario.frozen_heads->file);
    const GivenArrays& arrays = arrays_for(path, frozen_names);
    if (add(all, arrays, frozen_names) == 0) missing(path, "frozen_weights", arrays, frozen_names);
  }
  if (scenario.frozen_heads && scenario.frozen_heads->attn_weights)
    all.emplace("frozen_weights", scenario.frozen_heads->attn_weights);
  return all;
}

bool frozen_heads_fit(const Scenario& scenario, const ScenarioInputs* previous) {
  if (!scenario.frozen_heads || scenario.frozen_heads->heads.empty()) return true;
  try {
    ArrayFiles files;
    GivenArrays arrays = gather_arrays(scenario, {}, previous ? &previous->files : nullptr, files);
    const auto held = arrays.find("frozen_weights");
    if (held == arrays.end()) return true;
    erase_repeated_query(scenario, {}, arrays);
    const InputsSpec& inputs = scenario.inputs;
    std::vector<std::string> notes;
    const std::shared_ptr<ModelInput> model =
        arrays.contains("query") ? nullptr : read_model_input(scenario, notes);
    const TextLengths text = text_lengths(inputs, model.get());
    Scenario free = scenario;
    free.frozen_heads.reset();
    const ScenarioPlan plan = plan_scenario(free, arrays, given_sizes(arrays, free), text);
    const std::vector<std::int64_t>& heads = scenario.frozen_heads->heads;
    const std::vector<Index> sizes{plan.batch, static_cast<Index>(heads.size()), plan.query_length,
                                   plan.all_keys};
    return *std::ranges::max_element(heads) < plan.options.num_heads &&
           held->second.outline().shape().sizes() == sizes;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace headwise
