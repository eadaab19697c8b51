#include "app/cli/trace_request.h"

#include <fmt/format.h>
#include <unistd.h>
#include <filesystem>

#include <algorithm>
#include <map>

#include "app/cli/standard_streams.h"
#include "app/gl/offscreen_context.h"
#include "core/backend/backend_trace.h"
#include "core/files/array_files.h"
#include "core/files/reachable.h"
#include "core/model/files/model_files.h"
#include "core/reference/reference_backend.h"
#include "core/reference/reference_parts.h"
#include "core/scenario/given_arrays.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/layer_values.h"
#include "core/scenario/opened_scenario.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/trace/tensor_names.h"
#include "core/trace/trace_warnings.h"

namespace headwise {
namespace {

// A name without a folder or an extension is a preset, unless a file of that name exists.
bool names_preset(const std::string& name) {
  const bool preset = std::ranges::any_of(presets(), [&](const Preset& entry) { return entry.name == name; });
  return preset && access(name.c_str(), F_OK) != 0;
}

// Throws Error(input) if none of a file's arrays has a recognised name: the run would continue with generated numbers.
void require_used(const std::string& path, const std::vector<NamedTensor>& arrays) {
  const auto names = given_array_names();
  const auto is_read = [&](const NamedTensor& array) { return std::ranges::count(names, array.name) > 0; };
  if (std::ranges::any_of(arrays, is_read)) return;
  std::vector<std::string> there;
  std::string meant;
  const std::vector<std::string> known(names.begin(), names.end());
  for (const NamedTensor& array : arrays) {
    there.push_back(one_line(array.name, 40));
    const std::string nearest = nearest_name(array.name, known);
    if (meant.empty() && 2 * edit_distance(nearest, array.name.substr(0, 64)) <= nearest.size())
      meant = nearest;
  }
  throw Error(ExitStatus::input,
              {path, "nothing in this --input file is used", there.empty() ? "no arrays" : join(there, ", "),
               join(names, ", "),
               meant.empty() ? "save the arrays under these names" : fmt::format("did you mean {}?", meant)});
}

GivenArrays read_arrays(const std::vector<std::string>& paths) {
  GivenArrays given;
  std::map<std::string, std::string> origin;
  for (const std::string& path : paths) {
    std::vector<NamedTensor> arrays = read_array_file(path);
    require_used(path, arrays);
    for (NamedTensor& array : arrays) {
      if (!given.emplace(array.name, std::move(array.tensor)).second) {
        throw Error(ExitStatus::input, {path, "an array is given twice", array.name,
                                        "every array in one file", "it is in " + origin[array.name] + " too"});
      }
      origin[array.name] = path;
    }
  }
  return given;
}

DType dtype_of(const std::string& name) {
  if (name == "f32") return DType::f32;
  if (name == "f64") return DType::f64;
  throw Error(ExitStatus::usage, {"--dtype", "there is no such precision", name, "f32 or f64", ""});
}

// A sentence if a text was given but numbers become the inputs; empty: it is used, there is none, or --set selects inputs
// other than the scenario's text and so says it itself.
std::string text_not_used(const TraceRequest& request, const Scenario& scenario) {
  const InputsSpec& inputs = scenario.inputs;
  if (inputs.text.empty() || inputs.source == InputSource::text || inputs.source == InputSource::file)
    return "";
  const auto sets = [&](const char* path) {
    return std::ranges::any_of(request.settings, [&](const std::string& set) { return set.starts_with(path); });
  };
  if (sets("inputs.source=") && !sets("inputs.text=")) return "";
  return fmt::format(
      "the text \"{}\" is not used, because inputs.source is {}: use it with --set inputs.source=text",
      one_line(inputs.text, 40), choice_name(inputs.source));
}

ScenarioInputs inputs_of(const TraceRequest& request, const Scenario& scenario, const GivenArrays& given,
                         Warnings& warnings, const ScenarioInputs* previous = nullptr,
                         const InputsNeed& need = {}) {
  ScenarioInputs inputs = make_scenario_inputs(scenario, dtype_of(request.dtype), given, previous, need);
  if (const std::string told = text_not_used(request, scenario); !told.empty()) inputs.notes.push_back(told);
  for (const std::string& note : inputs.notes) warnings.add(note);
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

}  // namespace

void tell_text_of_model(const TraceRequest& request, const Scenario& scenario) {
  if (names_scenario(request.scenario) || !is_of_model(scenario)) return;
  if (is_array_file(request.scenario) && is_run_file(request.scenario))
    return;  // a run file brings the inputs of its run
  const auto sets_inputs = [](const std::string& set) { return set.starts_with("inputs."); };
  if (!request.inputs.empty() || std::ranges::any_of(request.settings, sets_inputs)) return;
  if (scenario.inputs.source != InputSource::text) return;
  print_notice(fmt::format("{} reads \"{}\": change the text with --set inputs.text=\"…\"", request.scenario,
                           one_line(scenario.inputs.text, 200)));
}

Scenario named_scenario(const std::string& name) {
  if (names_preset(name)) return preset_scenario(name);
  if (name == standard_stream) return scenario_from_json(read_standard_input("a scenario"), "standard input");
  require_reachable(name);
  if (names_model(name) || is_array_file(name)) return scenario_of_file(name);
  std::error_code ignored;
  const bool plain = name.find_first_of("./\\") == std::string::npos;
  // An argument that is neither a file nor looks like one was meant as a preset: its Error names the nearest.
  return plain && !std::filesystem::exists(name, ignored) ? preset_scenario(name) : read_scenario_file(name);
}

Scenario requested_scenario(const TraceRequest& request) {
  return with_settings(request, named_scenario(request.scenario));
}

Scenario with_settings(const TraceRequest& request, Scenario scenario) {
  for (const std::string& setting : request.settings) scenario = with_setting(scenario, setting);
  const auto sets = [&](const char* path) {
    return std::ranges::any_of(
        request.settings, [&](const std::string& set) { return set.starts_with(std::string(path) + "="); });
  };
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
    const bool alike = 2 * edit_distance(nearest, word.substr(0, 64)) <= nearest.size();
    throw Error(ExitStatus::usage,
                {option, "there is no tensor of that name", word, alike ? nearest : tensors_of_a_trace(),
                 alike ? "did you mean " + nearest + "? headwise list tensors lists all names"
                       : "headwise list tensors lists all names"});
  }
  if (name->gradient && !request.backward) {
    throw Error(ExitStatus::usage, {option, "gradients are not computed", word, "", "add --backward"});
  }
  return *name;
}

void add_trace_flags(CommandOptions& options, TraceRequest& request) {
  options.value("SCENARIO", request.scenario,
                "A scenario file (.json; - is standard input), the name of a preset, a file written by run, "
                "or a model (choose its layer with --set parameters.layer=3)",
                {.required = true});
  options.values("--input", request.inputs,
                 "Arrays under PyTorch's names: .npz, .safetensors, or one .npy named after its array",
                 {.type = "FILE"});
  options.values("--set", request.settings, "Change the scenario: attention.num_heads=4",
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
  tell_text_of_model(request, scenario);
  return inputs_of(request, scenario, read_arrays(request.inputs), warnings);
}

ComputedTrace compute_trace(const TraceRequest& request, const std::optional<std::vector<TensorName>>& needed) {
  const Scenario scenario = requested_scenario(request);
  tell_text_of_model(request, scenario);
  Warnings warnings;
  return compute_trace(request, scenario, needed, warnings);
}

ComputedTrace compute_trace(const TraceRequest& request, const Scenario& scenario,
                            const std::optional<std::vector<TensorName>>& needed, Warnings& warnings,
                            const ScenarioInputs* previous) {
  const Backend& backend = backend_named(request.backend);
  const bool inputs_alone =
      needed && !request.backward && scenario.op == Op::multi_head_attention && needs_only_inputs(*needed);
  const InputsNeed need{.maps = least_maps_of(backend, request.backward, needed), .parameters = !inputs_alone};
  const GivenArrays given = read_arrays(request.inputs);
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
  computed.trace = inputs_alone
                       ? trace_of_inputs(attention)
                       : backend_trace(backend, attention, request.backward, needed, computing_context,
                                       [&](const std::string& warning) { warnings.add(warning); });
  if (request.backward) computed.trace = reference_backward(*computed.trace, computed.inputs.grad_output);
  for (const std::string& warning : computed.trace->warnings) warnings.add(warning);
  warnings.refuse_where(request.strict);
  computed.warnings = warnings.all();
  return computed;
}

}  // namespace headwise
