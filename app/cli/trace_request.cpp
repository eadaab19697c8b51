#include "app/cli/trace_request.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <set>
#include <sstream>

#include "app/cli/command_line.h"
#include "app/platform/offscreen_context.h"
#include "core/attention/reference_backend.h"
#include "core/attention/reference_parts.h"
#include "core/attention/tensor_names.h"
#include "core/attention/trace_warnings.h"
#include "core/backend/backend.h"
#include "core/files/array_files.h"
#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/files/png_file.h"
#include "core/model/files/model_files.h"
#include "core/model/layers/attention_layers.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/given_arrays.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/overridden_settings.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/join.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

// A name without a folder or an extension is a preset, unless a file of that name exists.
bool names_preset(const std::string& name) {
  const bool preset = std::ranges::any_of(presets(), [&](const Preset& entry) { return entry.name == name; });
  return preset && access(name.c_str(), F_OK) != 0;
}

// Throws Error(input) if none of a file's arrays has a recognised name:
// the run would continue with generated numbers.
void require_used(const std::string& path, const GivenArrays& arrays) {
  const auto names = given_array_names();
  const auto is_read = [&](const auto& array) { return std::ranges::count(names, array.first) > 0; };
  if (std::ranges::any_of(arrays, is_read)) return;
  std::vector<std::string> there;
  std::string meant;
  for (const auto& [name, array] : arrays) {
    there.push_back(one_line(name, 40));
    if (meant.empty()) meant = nearest_given_name(name);
  }
  refuse_input(path, "nothing in this --input file is used", there.empty() ? "no arrays" : join(there, ", "),
               join(names, ", "),
               meant.empty() ? "save the arrays under these names" : fmt::format("did you mean {}?", meant));
}

GivenArrays open_inputs(const std::vector<std::string>& paths, Warnings& warnings) {
  GivenArrays given;
  ArrayOrigins origins;
  for (const std::string& path : paths) {
    const ArrayFile file = open_array_file(path);
    require_readable_names(file, given_array_names());
    for (const UnreadEntry& entry : file.unread) warnings.add(left_out(entry));
    require_used(path, file.arrays);
    print_detail(fmt::format("read {}: {}", path, counted(std::ssize(file.arrays), "array")));
    for (const auto& [name, array] : file.arrays) {
      origins.add(name, path);
      given.emplace(name, array);
    }
  }
  return given;
}

DType dtype_of(const std::string& name) {
  if (name == "f32") return DType::f32;
  if (name == "f64") return DType::f64;
  refuse_option("--dtype", "there is no such precision", name, "f32 or f64");
}

// The part of PATH=VALUE before the sign.
std::string path_of(const std::string& setting) {
  return setting.substr(0, setting.find('='));
}

constexpr const char* layer_path = "parameters.layer";

// The layer that they choose; nothing where they choose none, or it is no number.
std::optional<Index> set_layer(const std::vector<std::string>& settings) {
  std::optional<Index> layer;
  for (const std::string& setting : settings) {
    if (path_of(setting) != layer_path) continue;
    const std::string value = setting.substr(std::min(path_of(setting).size() + 1, setting.size()));
    Index number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool whole = error == std::errc() && end == value.data() + value.size();
    layer = whole ? std::optional(number) : std::nullopt;
  }
  return layer;
}

// Settings that a later one replaces.
std::vector<std::string> replaced_settings(const std::vector<std::string>& settings) {
  std::vector<std::string> notes;
  for (auto first = settings.begin(); first != settings.end(); ++first) {
    const auto same = [&](const std::string& later) { return path_of(later) == path_of(*first); };
    const auto later = std::find_if(first + 1, settings.end(), same);
    if (later != settings.end() && *later != *first)
      notes.push_back(
          fmt::format("--set {} is not used, because --set {} comes after it: leave one of the two out",
                      one_line(*first, 60), one_line(*later, 60)));
  }
  return notes;
}

// What the array files that the scenario names hold beside arrays of numbers.
std::vector<std::string> left_out(const ArrayFiles& files) {
  std::vector<std::string> notes;
  for (const auto& [path, file] : files)
    for (const UnreadEntry& entry : file.unread) notes.push_back(left_out(entry));
  return notes;
}

// What the user wrote, by where. A preset, a run's file and a model have keys that others wrote.
WrittenByUser written_by_user(const TraceRequest& request, const Scenario& scenario, const GivenArrays& given) {
  WrittenByUser written;
  const bool own = names_scenario(request.scenario) && !names_preset(request.scenario);
  const std::set<std::string>& keys = scenario.origin.written;
  if (own) written.file = keys;
  for (const std::string& setting : request.settings) {
    const std::string path = path_of(setting);
    for (const std::string& key : keys)  // a whole section may be set, or a part of an object
      if (key == path || key.starts_with(path + ".") || path.starts_with(key + "."))
        written.settings.insert(key);
  }
  for (const auto& [name, array] : given) written.input.insert(name);
  return written;
}

// Throws Error(input) for inputs and parameters that were made up beside given ones, unless the user chose
// their source: no other program has the same.
void refuse_made_up(const Scenario& scenario, const ScenarioInputs& inputs, const GivenArrays& given,
                    const WrittenByUser& written) {
  std::vector<std::string> names, remedies{"add them to the --input files"};
  bool biases = true;
  for (const MadeUpArray& array : made_up_arrays(scenario, inputs, given)) {
    const bool input = std::ranges::count(input_array_names(), array.name) > 0;
    const std::string source = input ? "inputs.source" : "parameters.source";
    const bool from_file = input ? scenario.inputs.source == InputSource::file
                                 : scenario.parameters.source == ParameterSource::file;
    if (!from_file && (written.file.contains(source) || written.settings.contains(source))) continue;
    names.push_back(fmt::format("{} ({})", array.name, array.how));
    biases = biases && array.name.ends_with("bias");
    const std::string remedy = fmt::format("use --set {}=random if they are meant to be made", source);
    if (std::ranges::count(remedies, remedy) == 0) remedies.push_back(remedy);
  }
  if (names.empty()) return;
  for (const auto& [name, array] : given) {
    if (!is_foreign_name(name)) continue;
    const std::string meant = nearest_given_name(name);
    remedies.insert(remedies.begin(), fmt::format("give {} the name that it has here{}", one_line(name, 60),
                                                  meant.empty() ? "" : fmt::format(", {}", meant)));
    break;
  }
  if (biases && scenario.attention.bias)
    remedies.insert(remedies.begin() + 1, "use --set attention.bias=false if there are none");
  refuse_input("compare", "arrays that were not given cannot be compared with those of another program",
               join(names, ", "), "all arrays that the other program used", join(remedies, ", or "));
}

ScenarioInputs inputs_of(const TraceRequest& request, const Scenario& scenario, const GivenArrays& given,
                         Warnings& warnings, const ScenarioInputs* previous = nullptr,
                         const InputsNeed& need = {}) {
  ScenarioInputs inputs = make_scenario_inputs(scenario, dtype_of(request.dtype), given, previous, need);
  const WrittenByUser written = written_by_user(request, scenario, given);
  if (request.compares) refuse_made_up(scenario, inputs, given, written);
  for (const std::vector<std::string>& notes :
       {inputs.notes, left_out(inputs.files), overridden_settings(scenario, inputs, written),
        replaced_settings(request.settings)})
    for (const std::string& note : notes) warnings.add(note);
  warnings.refuse_where(request.strict);
  return inputs;
}

// A trace of the given tensors: nothing is computed.
TracePtr trace_of_inputs(const AttentionInputs& inputs) {
  const auto trace = std::make_shared<Trace>();
  trace->options = inputs.options;
  trace->dtype = inputs.dtype;
  trace->tensors = inputs.tensors;
  trace->warnings = trace_warnings(*trace);
  return trace;
}

// "query, key, value, q, … or output": what is computed, and what it starts from.
std::string tensors_of_a_trace() {
  std::vector<std::string> names;
  for (const TensorEntry& entry : tensor_entries()) {
    const bool begins = entry.id == TensorId::query || entry.id == TensorId::key || entry.id == TensorId::value;
    if (begins || entry.role == TensorRole::intermediate) names.emplace_back(entry.name);
  }
  return fmt::format("{}, or a parameter's or mask's name", join(names, ", "));
}

// A text's forward pass through a model, up to the last of some layers; empty if the scenario's text does not
// go through one.
struct ModelPass {
  std::shared_ptr<const ModelInput> input;  // of the last layer
  std::vector<TensorPtr> hidden_states;

  // What the inputs of layer `number` of the files can share with it; null: nothing.
  std::unique_ptr<ScenarioInputs> given_to(Index number) const {
    const Index layer = input ? number - input->model->transformer()->first_layer() : -1;
    if (layer < 0 || layer >= static_cast<Index>(hidden_states.size())) return nullptr;
    auto inputs = std::make_unique<ScenarioInputs>();
    inputs->model_input = std::make_shared<ModelInput>(*input);
    inputs->model_input->layer = layer;
    inputs->model_input->hidden_state = hidden_states[static_cast<std::size_t>(layer)];
    return inputs;
  }
};

ModelPass pass_to_last_of(const std::vector<Index>& layers, const Scenario& scenario) {
  ModelPass pass;
  if (layers.empty()) return pass;
  Scenario last = scenario;
  last.parameters.layer = layers.back();
  std::vector<std::string> notes;  // each layer repeats them
  try {
    pass.input = read_model_input(last, notes);
  } catch (const Error& error) {  // that layer reports it itself
    if (error.status() != ExitStatus::usage) throw;
  }
  if (pass.input)
    pass.hidden_states = pass.input->model->run(pass.input->text, {.layers = pass.input->layer}).hidden_states;
  return pass;
}

}  // namespace

void ArrayOrigins::add(const std::string& name, const std::string& path) {
  const auto [earlier, first] = paths_.emplace(name, path);
  if (!first)
    refuse_input(path, "an array is given twice", name, "every array in one file",
                 "it is in " + earlier->second + " too");
}

void keep_inputs(const TraceRequest& request, const std::string& output) {
  std::error_code missing;
  for (const std::string& input : request.inputs)
    if (std::filesystem::equivalent(input, output, missing))
      refuse_option("--output", "this file is an --input of the same command", output,
                    "a file that is not read", "choose another name");
}

void print_model_text(const TraceRequest& request, const Scenario& scenario) {
  if (names_scenario(request.scenario) || !is_of_model(scenario)) return;
  if (is_array_file(request.scenario) && is_run_file(request.scenario))
    return;  // a run file brings the inputs of its run
  const auto sets_inputs = [](const std::string& set) { return set.starts_with("inputs."); };
  if (!request.inputs.empty() || std::ranges::any_of(request.settings, sets_inputs)) return;
  if (scenario.inputs.source != InputSource::text) return;
  print_notice(fmt::format("{} reads \"{}\": change the text with --set inputs.text=\"…\"", request.scenario,
                           one_line(scenario.inputs.text, 200)));
}

Scenario named_scenario(const std::string& name, const std::vector<std::string>& settings) {
  if (names_preset(name)) return preset_scenario(name);
  if (name == standard_stream) return scenario_from_json(read_standard_input("a scenario"), "standard input");
  require_reachable(name, names_scenario(name) ? ExitStatus::usage : ExitStatus::input);
  if (names_model(name) || is_array_file(name) || is_png_name(name))
    return scenario_of_file(name, set_layer(settings));
  std::error_code ignored;
  const bool plain = name.find_first_of("./\\") == std::string::npos;
  // An argument that is neither a file nor looks like one was meant as a preset: its Error names the nearest.
  return plain && !std::filesystem::exists(name, ignored) ? preset_scenario(name) : read_scenario_file(name);
}

Scenario requested_scenario(const TraceRequest& request) {
  return with_settings(request, named_scenario(request.scenario, request.settings));
}

Scenario with_settings(const TraceRequest& request, Scenario scenario) {
  const auto sets = [&](const char* path) {
    return std::ranges::find(request.settings, path, path_of) != request.settings.end();
  };
  for (const std::string& setting : request.settings) scenario = with_setting(scenario, setting);
  // A picture says by itself where the inputs come from.
  if (scenario.inputs.picture && sets("inputs.picture") && !sets("inputs.source"))
    scenario = with_setting(scenario, "inputs.source=picture");
  // Setting only the heads does not mean keeping the key/value heads that went with the earlier number.
  if (is_of_model(scenario) && sets(num_heads_path)) {
    const AttentionSpec defaults;
    for (const char* path : head_size_paths)
      if (!sets(path)) scenario.origin.written.erase(path);
    if (!sets(head_size_paths[0])) scenario.attention.num_kv_heads = defaults.num_kv_heads;
    if (!sets(head_size_paths[1])) scenario.attention.head_dim = defaults.head_dim;
    if (!sets(head_size_paths[2])) scenario.attention.v_head_dim = defaults.v_head_dim;
  }
  return with_layer_values(scenario);
}

TensorName requested_tensor(const TraceRequest& request, const std::string& option, const std::string& word) {
  const std::optional<TensorName> name = find_tensor_name(word);
  if (!name) {
    const std::string nearest = nearest_tensor_name(word);
    const bool alike = !nearest.empty();
    refuse_option(option, "there is no tensor of that name", word, alike ? nearest : tensors_of_a_trace(),
                  alike ? "did you mean " + nearest + "? headwise list tensors lists all names"
                        : "headwise list tensors lists all names");
  }
  if (name->gradient && !request.backward)
    refuse_option(option, "gradients are not computed", word, "", "add --backward");
  return *name;
}

void add_trace_flags(CommandOptions& options, TraceRequest& request) {
  options.value("SCENARIO", request.scenario,
                "A scenario file (.json; - is standard input), the name of a preset, a file written by run, "
                "or a model (choose its layer with --set parameters.layer=3)",
                {.required = true});
  options.values(
      "--input", request.inputs,
      "Arrays under PyTorch's names: .npz, .safetensors, or one .npy named after its array; a folder of "
      "them; - or a pipe",
      {.type = "FILE", .arrays = true});
  options.values("--set", request.settings, "Change the scenario: attention.num_heads=4, mask.indexer.k=2",
                 {.type = "PATH=VALUE"});
  options.value("--backend", request.backend, "Compute backend (see: headwise list backends)",
                {.type = "NAME", .shows_default = true});
  options.value("--dtype", request.dtype, "Precision of the computation: f32 or f64",
                {.type = "TYPE", .shows_default = true});
  options.flag("--backward", request.backward,
               "Compute the gradients too: grad.NAME, of the sum of grad_output · output");
  add_strict_flag(options, request.strict);
}

RunRecord record_of(const ComputedTrace& computed) {
  return {.scenario = with_sizes_of(computed.scenario, computed.inputs.attention),
          .given = computed.given,
          .layers = {},
          .tokens = computed.inputs.labels,
          .warnings = computed.warnings};
}

bool names_scenario(const std::string& name) {
  return name == standard_stream || names_preset(name) || (name.ends_with(".json") && !names_model(name));
}

ScenarioInputs read_inputs(const TraceRequest& request, Warnings& warnings) {
  const Scenario scenario = requested_scenario(request);
  print_model_text(request, scenario);
  return inputs_of(request, scenario, open_inputs(request.inputs, warnings), warnings);
}

ComputedTrace compute_trace(const TraceRequest& request, const std::optional<std::vector<TensorName>>& needed) {
  const Scenario scenario = requested_scenario(request);
  print_model_text(request, scenario);
  Warnings warnings;
  return compute_trace(request, scenario, needed, warnings);
}

ComputedTrace compute_trace(const TraceRequest& request, const Scenario& scenario,
                            const std::optional<std::vector<TensorName>>& needed, Warnings& warnings,
                            const ScenarioInputs* previous) {
  const Backend& backend = backend_named(request.backend);
  const bool inputs_alone = needed && !request.backward && projects(scenario.op) && needs_only_inputs(*needed);
  const InputsNeed need{.maps = least_maps_of(backend, request.backward, needed),
                        .parameters = !inputs_alone,
                        .backward = request.backward};
  // The shares of the work are estimates: what matters is that the inputs alone are not all of it.
  std::optional<ProgressPart> part(std::in_place, 0.0, 0.1, "inputs and parameters");
  const GivenArrays given = open_inputs(request.inputs, warnings);
  ComputedTrace computed{.inputs = inputs_of(request, scenario, given, warnings, previous, need),
                         .trace = nullptr,
                         .scenario = scenario,
                         .given = {},
                         .batch_first = scenario.inputs.batch_first,
                         .warnings = {}};
  const auto known = given_array_names();
  for (const auto& [name, array] : given)
    if (std::ranges::count(known, name) > 0) computed.given.push_back(name);
  const AttentionInputs& attention = computed.inputs.attention;
  print_detail("inputs and parameters are ready");
  if (request.check) request.check(computed.inputs);
  part.emplace(0.1, request.backward ? 0.4 : 1.0);
  computed.trace = inputs_alone
                       ? trace_of_inputs(attention)
                       : backend_trace(backend, attention, request.backward, needed, computing_context,
                                       [&](const std::string& warning) { warnings.add(warning); });
  print_detail(fmt::format("computed by {} in {}", request.backend, dtype_name(computed.trace->dtype)));
  part.emplace(request.backward ? 0.4 : 1.0, 1.0);
  if (request.backward) {
    computed.trace = reference_backward(*computed.trace, computed.inputs.grad_output);
    print_detail("computed the gradients");
  }
  for (const std::string& warning : computed.trace->warnings) warnings.add(warning);
  warnings.refuse_where(request.strict);
  computed.warnings = warnings.all();
  return computed;
}

LayerChoice chosen_layers(const TraceRequest& request, const Scenario& scenario, const std::string& words) {
  const auto sets_layer = [](const std::string& set) { return set.starts_with(std::string(layer_path) + "="); };
  if (std::ranges::any_of(request.settings, sets_layer))
    refuse_option("--layers", "the layer is also set", std::string("--set ") + layer_path, "one of the two");
  if (!is_of_model(scenario))
    refuse_option("--layers", "the scenario has no model to take layers from", request.scenario,
                  "a model, or parameters.source \"model\"");
  const std::string path = path_from(scenario.origin.folder, *scenario.parameters.file);
  const auto count = static_cast<Index>(TextModel::open(path)->layers().layers.size());
  LayerChoice choice;
  if (words == "all") {
    choice.all = true;
    choice.layers.resize(static_cast<std::size_t>(count));
    std::iota(choice.layers.begin(), choice.layers.end(), Index{0});
    return choice;
  }
  std::set<Index> layers;
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, ',');) {
    const Index layer = integer_of("--layers", word);
    if (layer < 0 || layer >= count)
      refuse_input(path, "the model has no such layer", word,
                   count == 0 ? "no layers" : fmt::format("0 to {}", count - 1));
    layers.insert(layer);
  }
  choice.layers.assign(layers.begin(), layers.end());
  if (choice.layers.empty()) refuse_option("--layers", "no layer is named", words, "all, or numbers: 0,3");
  return choice;
}

std::optional<Error> for_layers(
    const LayerChoice& choice, const TraceRequest& request, const Scenario& scenario, Warnings& warnings,
    const std::function<void(Index layer, TraceRequest request, const ScenarioInputs* shared)>& run) {
  const ModelPass pass = pass_to_last_of(choice.layers, scenario);
  std::optional<Error> refused;
  for (std::size_t i = 0; i < choice.layers.size(); ++i) {
    const ProgressPart part = slice_of_work(static_cast<Index>(i), static_cast<Index>(choice.layers.size()));
    const Index layer = choice.layers[i];
    TraceRequest one = request;
    one.settings.insert(one.settings.begin(), fmt::format("{}={}", layer_path, layer));
    warnings.set_place(fmt::format("layer {}", layer));
    try {
      run(layer, std::move(one), pass.given_to(layer).get());
    } catch (const Error& error) {
      const bool of_layer = error.status() == ExitStatus::input || error.status() == ExitStatus::usage;
      if (!choice.all || !of_layer || request.strict) throw;
      warnings.add(fmt::format("skipped: {}", error.what()));
      refused = error;
    }
  }
  return refused;
}

}  // namespace headwise
