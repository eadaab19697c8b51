#include "app/cli/scenario_info.h"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <set>

#include "core/attention/heads.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"
#include "core/tensor/progress.h"
#include "core/trace/check_attention_inputs.h"

namespace headwise {
namespace {

// Beyond this many multiply-adds (about half a minute on one core of 2020, all comparisons together) the questions are
// not answered by computing: their answers do not depend on the sizes, and a smaller scenario gives them at once.
constexpr Index most_multiply_adds = 10'000'000'000;

std::vector<LetterSize> letter_sizes(const AttentionInputs& inputs) {
  const AttentionSizes s = attention_sizes(inputs);
  const AttentionOptions& o = inputs.options;
  const bool mha = o.op == Op::multi_head_attention;
  std::vector<LetterSize> sizes{
      {"N", "batch", s.batch}, {"L", "query length", s.queries}, {"S", "key length", s.keys}};
  if (s.all_keys != s.keys) sizes.push_back({"S′", "key length with appended columns", s.all_keys});
  if (mha) sizes.push_back({"E", "model width, embed_dim", s.embed_dim});
  if (mha && o.kdim != s.embed_dim) sizes.push_back({"kdim", "width of key", o.kdim});
  if (mha && o.vdim != s.embed_dim) sizes.push_back({"vdim", "width of value", o.vdim});
  sizes.push_back({"H", "heads", s.heads});
  sizes.push_back({"G", "key/value heads", s.kv_heads});
  sizes.push_back({"D", "head width of q and k", s.head_dim});
  sizes.push_back({"Dv", "head width of v", s.v_head_dim});
  return sizes;
}

Index bytes_of_inputs(const AttentionInputs& inputs) {
  std::set<TensorPtr> counted;  // in self-attention query, key and value are one tensor
  Index bytes = 0;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr& tensor = inputs.tensors.*(entry.member);
    if (tensor && counted.insert(tensor).second) bytes += static_cast<Index>(tensor->bytes());
  }
  return bytes;
}

void add_output_shares(ScenarioInfo& info) {
  const TraceTensors& t = info.trace->tensors;
  if (!t.out_proj_weight || !t.concat) return;
  info.output_shares = output_magnitudes_by_heads(*t.concat, *t.out_proj_weight, t.out_proj_bias.get(),
                                                  info.trace->options.num_heads);
  const double all = std::accumulate(info.output_shares.begin(), info.output_shares.end(), 0.0);
  for (double& share : info.output_shares) share = all == 0.0 ? 0.0 : share / all;
}

void compute_answers(ScenarioInfo& info, const AttentionInputs& inputs, Warnings& warnings) {
  if (info.counts.multiply_adds > most_multiply_adds) {
    info.not_computed = fmt::format(
        "{} multiply-adds are too many to compute several times; smaller sizes give the same answers",
        count_text(info.counts.multiply_adds));
    return;
  }
  try {
    std::optional<ProgressPart> part(std::in_place, 0.0, 0.3);
    info.trace = reference_forward(inputs);
    for (const std::string& warning : info.trace->warnings) warnings.add(warning);
    part.emplace(0.3, 0.5, "layouts");
    info.layouts = compare_layouts(*info.trace);
    part.emplace(0.5, 0.9, "head width");
    info.head_width = compare_head_width(*info.trace);
    const Shape& scores = info.trace->tensors.masked_scores->shape();
    if (scores.size(0) > 0 && scores.size(2) > 0)
      info.lookup = compare_lookups(*info.trace, 0, 0, scores.size(2) - 1);
    add_output_shares(info);
  } catch (const Error& error) {
    if (error.status() != ExitStatus::memory) throw;
    info.not_computed = error.what();
  }
}

}  // namespace

ScenarioInfo scenario_info(const TraceRequest& request) {
  Warnings warnings;
  std::optional<ProgressPart> part(std::in_place, 0.0, 0.1, "inputs and parameters");
  const ScenarioInputs made = read_inputs(request, warnings);
  part.emplace(0.1, 1.0);
  const AttentionInputs& inputs = made.attention;
  check_attention_inputs(inputs);
  ScenarioInfo info;
  info.name = request.scenario;
  info.op = inputs.options.op;
  info.dtype = inputs.dtype;
  info.sizes = letter_sizes(inputs);
  info.parameters = parameter_counts(inputs);
  info.counts = operation_counts(inputs);
  info.input_bytes = bytes_of_inputs(inputs);
  info.trace_bytes = reference_trace_bytes(inputs);
  info.free_bytes = available_memory();
  compute_answers(info, inputs, warnings);
  warnings.refuse_where(request.strict);
  info.notes = warnings.all();
  return info;
}

}  // namespace headwise
