// headwise compare: a scenario compared with the tensors of another program.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/cli/comparison_text.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "app/cli/trace_request.h"
#include "core/files/array_files.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

std::vector<StoredTensor> read_theirs(const std::vector<std::string>& paths, Warnings& warnings) {
  std::vector<StoredTensor> arrays;
  std::map<std::string, std::string> origin;
  for (const std::string& path : paths) {
    const auto is_tensor = [](const std::string& name) {
      return stored_tensor_name(name, Op::multi_head_attention).has_value();
    };
    for (NamedTensor& array : read_readable_arrays(path, is_tensor, warnings)) {
      const auto [earlier, first] = origin.emplace(array.name, path);
      if (!first) {
        throw Error(ExitStatus::input, {path, "an array is given twice", array.name,
                                        "every array in one file", "it is in " + earlier->second + " too"});
      }
      arrays.push_back({std::move(array.name), std::move(array.tensor), std::move(array.stored_dtype)});
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

[[noreturn]] void nothing_to_compare(const std::string& theirs, const ArrayComparison& comparison) {
  std::vector<std::string> reasons;
  for (const SkippedArray& array : comparison.skipped) {
    if (reasons.size() == 3) break;
    reasons.push_back(fmt::format("{}: {}", one_line(array.stored_name, 40), array.reason));
  }
  throw Error(
      ExitStatus::input,
      {theirs, "it contains nothing to compare", reasons.empty() ? "no arrays" : join(reasons, "; "),
       "arrays under the names of a trace: scores, attn_weights, output …", "see headwise list tensors"});
}

}  // namespace

void run_compare(CommandOptions& options, const Words& words) {
  TraceRequest request;
  request.compares = true;
  std::vector<std::string> with;
  std::string tolerance;
  bool json = false;
  add_trace_flags(options, request);
  options.values("--with", with, "Their tensors: .npz, .safetensors, or one .npy named after its tensor",
                 {.type = "FILE", .required = true});
  options.value("--tolerance", tolerance,
                "A cell agrees if |ours - theirs| <= X * max(|ours|, |theirs|, u), where u is the largest "
                "number of the tensor, at most 1; X defaults to 1e-10 in f64, 1e-5 if a side is f32 (more "
                "for scores above 20), 2e-3 for f16, 1.6e-2 for bf16, and ten times that for gradients",
                {.type = "X"});
  options.flag("--json", json, "Print JSON");
  if (!options.parse(words)) return;

  ArrayComparisonOptions comparing;
  if (!tolerance.empty()) {
    comparing.tolerance = number_of("--tolerance", tolerance);
    if (*comparing.tolerance < 0)
      throw Error(ExitStatus::usage, {"--tolerance", "the value is wrong", tolerance, "0 or more", ""});
  }
  Warnings warnings;
  const std::vector<StoredTensor> theirs = read_theirs(with, warnings);
  const std::string named = join(with, ", ");
  if (has_gradients(theirs)) request.backward = true;
  const Scenario scenario = requested_scenario(request);
  tell_text_of_model(request, scenario);
  const ComputedTrace computed = compute_trace(request, scenario, {}, warnings);
  comparing.batch_first = computed.batch_first;
  const Trace& trace = *computed.trace;
  const ArrayComparison comparison = compare_arrays(trace, theirs, comparing);
  if (comparison.arrays.empty()) nothing_to_compare(named, comparison);

  const AttentionInputs& inputs = computed.inputs.attention;
  const ComparedArray* first = comparison.first_difference();
  // How many mistakes will be tried is not known: the line of progress has no percentage then.
  const ProgressPart searching(1.0, 1.0, "looking for the cause");
  Progress unseen;
  const ProgressScope parts_of_each(unseen);
  const Findings findings =
      likely_causes({inputs, trace, computed.inputs.grad_output, theirs, comparing}, comparison);
  const bool searched = reference_trace_bytes(inputs) <= variant_bytes_limit;
  const ComparisonReport report{trace, comparison, findings, searched, request.scenario, named};
  print(json ? report_json(report) : report_text(report));
  if (first != nullptr) throw Error(ExitStatus::differs, {named, verdict_line(*first), "", "", ""});
}

}  // namespace headwise
