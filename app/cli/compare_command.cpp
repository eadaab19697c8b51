// headwise compare: a scenario compared with the tensors of another program.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "app/cli/command_line.h"
#include "app/cli/comparison_text.h"
#include "app/cli/standard_streams.h"
#include "app/cli/trace_request.h"
#include "core/attention/reference_backend.h"
#include "core/files/array_files.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

// Their values are read where a shape fits.
std::vector<StoredTensor> open_theirs(const std::vector<std::string>& paths, Warnings& warnings) {
  std::vector<StoredTensor> arrays;
  ArrayOrigins origins;
  for (const std::string& path : paths) {
    std::vector<UnreadEntry> unread;
    std::vector<LazyArray> of_file = open_arrays(path, unread);
    for (const UnreadEntry& entry : unread) {
      if (stored_tensor_name(entry.name, Op::multi_head_attention)) throw entry.why;
      warnings.add(left_out(entry));
    }
    for (LazyArray& array : of_file) {
      origins.add(array.name, path);
      arrays.push_back({std::move(array.name), std::move(array.array), std::move(array.stored_dtype)});
    }
  }
  return arrays;
}

bool has_gradients(const std::vector<StoredTensor>& arrays) {
  return std::ranges::any_of(arrays, [](const StoredTensor& array) {
    const auto name = stored_tensor_name(array.name, Op::multi_head_attention);
    return name && name->gradient;
  });
}

[[noreturn]] void nothing_to_compare(const std::string& theirs, const std::vector<SkippedArray>& skipped) {
  std::vector<std::string> reasons;
  for (const SkippedArray& array : skipped) {
    if (reasons.size() == 3) break;
    reasons.push_back(fmt::format("{}: {}", one_line(array.stored_name, 40), array.reason));
  }
  throw Error(
      ExitStatus::input,
      {theirs, "it contains nothing to compare", reasons.empty() ? "no arrays" : join(reasons, "; "),
       "arrays under the names of a trace: scores, attn_weights, output …", "see headwise list tensors"});
}

// One computation and how their arrays compare with it.
struct Compared {
  ComputedTrace computed;
  ArrayComparison comparison;
  Findings findings;  // empty where no causes were requested
};

Compared compared_with(ComputedTrace computed, const std::vector<StoredTensor>& theirs,
                       ArrayComparisonOptions options, bool with_causes) {
  options.batch_first = computed.batch_first;
  Compared result{std::move(computed), {}, {}};
  const Trace& trace = *result.computed.trace;
  const ScenarioInputs& inputs = result.computed.inputs;
  result.comparison = compare_arrays(trace, theirs, options);
  if (!with_causes) return result;
  // How many mistakes will be tried is not known: the line of progress has no percentage then.
  const ProgressPart searching(1.0, 1.0, "looking for the cause");
  Progress unseen;
  const ProgressScope parts_of_each(unseen);
  VariantSearch search{inputs.attention, trace, inputs.grad_output, theirs, options};
  if (const AttentionSpec& a = result.computed.scenario.attention; a.rotary_scaling && a.rotary_base)
    search.stretched = {*a.rotary_scaling, *a.rotary_base};
  result.findings = likely_causes(search, result.comparison);
  return result;
}

ComparisonReport report_of(const Compared& compared, const std::string& scenario, const std::string& theirs) {
  const bool searched = reference_trace_bytes(compared.computed.inputs.attention) <= variant_bytes_limit;
  return {*compared.computed.trace, compared.comparison, compared.findings, searched, scenario, theirs};
}

// Their arrays by layer, each under its name within the layer: "layers.3.output" and "3.output" are layer 3's
// "output". The rest goes to `skipped`.
std::map<Index, std::vector<StoredTensor>> arrays_by_layer(const std::vector<StoredTensor>& theirs,
                                                           std::vector<SkippedArray>& skipped) {
  constexpr std::size_t most_digits = 6;
  std::map<Index, std::vector<StoredTensor>> result;
  for (const StoredTensor& array : theirs) {
    bool numbered = false;
    for (std::size_t begin = 0; begin < array.name.size() && !numbered;) {
      const std::size_t dot = array.name.find('.', begin);
      if (dot == std::string::npos) break;
      const std::string part = array.name.substr(begin, dot - begin);
      begin = dot + 1;
      const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
      if (part.empty() || part.size() > most_digits || !std::ranges::all_of(part, is_digit)) continue;
      numbered = true;
      StoredTensor of_layer = array;
      of_layer.name = array.name.substr(begin);
      result[std::stoll(part)].push_back(std::move(of_layer));
    }
    if (!numbered) skipped.push_back({array.name, "the name has no layer number, as in layers.3.output"});
  }
  return result;
}

// Layer by layer, each computed from the model's own hidden states; the first that differs with its cause.
void compare_layers(TraceRequest request, const std::string& layers, const std::vector<StoredTensor>& theirs,
                    const ArrayComparisonOptions& comparing, const std::string& named, bool json,
                    Warnings& warnings) {
  const Scenario of_model = named_scenario(request.scenario, request.settings),
                 scenario = with_settings(request, of_model);
  LayerChoice choice = chosen_layers(request, scenario, layers);
  print_model_text(request, scenario);
  std::vector<SkippedArray> skipped;
  const std::map<Index, std::vector<StoredTensor>> arrays = arrays_by_layer(theirs, skipped);
  std::vector<Index> compared_layers;
  for (const Index layer : choice.layers) {
    if (arrays.contains(layer)) compared_layers.push_back(layer);
    if (!arrays.contains(layer) && !choice.all)
      throw Error(ExitStatus::input, {named, "it has no arrays of this layer", std::to_string(layer),
                                      fmt::format("names like layers.{}.output", layer), ""});
  }
  choice.layers = std::move(compared_layers);
  LayerReports reports{request.scenario, named};
  std::optional<Error> verdict;
  const auto run = [&](Index layer, TraceRequest one, const ScenarioInputs* shared) {
    const std::vector<StoredTensor>& own = arrays.at(layer);
    one.backward = one.backward || has_gradients(own);
    const Compared compared = compared_with(
        compute_trace(one, with_settings(one, of_model), {}, warnings, shared), own, comparing, !verdict);
    for (const SkippedArray& array : compared.comparison.skipped)
      skipped.push_back({fmt::format("{}.{}", layer, array.stored_name), array.reason});
    if (compared.comparison.arrays.empty()) return;
    reports.add(layer, report_of(compared, fmt::format("{}, layer {}", request.scenario, layer), named));
    const ComparedArray* first = compared.comparison.first_difference();
    if (first != nullptr && !verdict)
      verdict = Error(ExitStatus::differs,
                      {named, fmt::format("layer {}: {}", layer, verdict_line(*first)), "", "", ""});
  };
  const std::optional<Error> refused = for_layers(choice, request, scenario, warnings, run);
  if (reports.layers.empty() && refused) throw *refused;
  if (reports.layers.empty()) nothing_to_compare(named, skipped);
  reports.skipped = std::move(skipped);
  print(reports.report().printed(json));
  if (verdict) throw *verdict;
}

}  // namespace

void run_compare(CommandOptions& options, const Words& words) {
  TraceRequest request;
  request.compares = true;
  std::vector<std::string> with;
  std::string tolerance, layers;
  bool json = false;
  add_trace_flags(options, request);
  options.values(
      "--with", with,
      "Their tensors: .npz, .safetensors, or one .npy named after its tensor; a folder of them; - or a pipe",
      {.type = "FILE", .required = true, .arrays = true});
  options.value("--tolerance", tolerance,
                "A cell agrees if |ours - theirs| <= X * max(|ours|, |theirs|, u), where u is the largest "
                "number of the tensor, at most 1; X defaults to 1e-10 in f64, 1e-5 if a side is f32 (more "
                "for scores above 20), 2e-3 for f16, 1.6e-2 for bf16, and ten times that for gradients",
                {.type = "X"});
  options.value(
      "--layers", layers,
      "For a model: compare these layers one by one, all or 0,3; theirs are named layers.3.output or "
      "3.attn_weights",
      {.type = "N,M|all"});
  options.flag("--json", json, "Print JSON");
  if (!options.parse(words)) return;

  ArrayComparisonOptions comparing;
  if (!tolerance.empty()) {
    comparing.tolerance = number_of("--tolerance", tolerance);
    if (*comparing.tolerance < 0)
      throw Error(ExitStatus::usage, {"--tolerance", "the value is wrong", tolerance, "0 or more", ""});
  }
  Warnings warnings;
  const std::vector<StoredTensor> theirs = open_theirs(with, warnings);
  const std::string named = join(with, ", ");
  if (layers.empty()) {
    if (has_gradients(theirs)) request.backward = true;
    const Scenario scenario = requested_scenario(request);
    print_model_text(request, scenario);
    const Compared compared =
        compared_with(compute_trace(request, scenario, {}, warnings), theirs, comparing, true);
    if (compared.comparison.arrays.empty()) nothing_to_compare(named, compared.comparison.skipped);
    Report report = comparison_report(report_of(compared, request.scenario, named));
    report.json["text"] = report.text;
    print(report.printed(json));
    if (const ComparedArray* first = compared.comparison.first_difference())
      throw Error(ExitStatus::differs, {named, verdict_line(*first), "", "", ""});
    return;
  }
  compare_layers(request, layers, theirs, comparing, named, json, warnings);
}

}  // namespace headwise
