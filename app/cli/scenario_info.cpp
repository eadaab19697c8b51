#include "app/cli/scenario_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "core/attention/attention_sizes.h"
#include "core/attention/check_attention_inputs.h"
#include "core/attention/heads.h"
#include "core/attention/output_gate.h"
#include "core/attention/reference_backend.h"
#include "core/lessons/head_width_comparison.h"
#include "core/lessons/layout_comparison.h"
#include "core/lessons/lookup_comparison.h"
#include "core/lessons/operation_counts.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

// Beyond this many multiply-adds (about half a minute on one core of 2020, all comparisons together) the
// questions are not answered by computing: their answers do not depend on the sizes,
// and a smaller scenario gives them at once.
constexpr Index most_multiply_adds = 10'000'000'000;

Report size_report(const AttentionInputs& inputs) {
  const AttentionSizes s = attention_sizes(inputs);
  const AttentionOptions& o = inputs.options;
  const bool mha = projects(o.op);
  std::vector<Row> rows;
  const auto add = [&](const char* letter, const char* what, Index size, bool there = true) {
    if (there) rows.push_back({letter, count_cell(letter, size), what});
  };
  add("N", "batch", s.batch);
  add("L", "query length", s.queries);
  add("P", "past length, keys of a cache", s.past, s.past > 0);
  add("S", "key length", s.new_keys());
  add("S′", s.past == 0 ? "key length with appended columns" : "all keys: past, own and appended", s.all_keys,
      s.all_keys != s.new_keys());
  add("E", "model width, embed_dim", s.embed_dim, mha);
  add("kdim", "width of key", o.kdim, mha && o.kdim != s.embed_dim);
  add("vdim", "width of value", o.vdim, mha && !is_latent(o) && o.vdim != s.embed_dim);
  add("C", "width of the latent, kv_lora_rank", s.latent, is_latent(o));
  add("Cq", "width of a compressed query, q_lora_rank", s.query_latent, s.query_latent > 0);
  add("Dn", "columns of a head without a position", s.nope, is_latent(o));
  add("R", "columns of a head that RoPE rotates", s.rope, is_latent(o));
  add("H", "heads", s.heads);
  add("G", "key/value heads", s.kv_heads);
  add("D", "head width of q and k", s.head_dim);
  add("Dv", "head width of v", s.v_head_dim);
  Report report{"\nSizes\n"};
  report.add_rows(rows);
  return report;
}

void add_parameters(const AttentionInputs& inputs, Report& report) {
  const std::vector<ParameterCount> parameters = parameter_counts(inputs);
  std::vector<Row> rows;
  for (const ParameterCount& count : parameters)
    rows.push_back({{"name", tensor_entry(count.tensor).name, std::string(tensor_entry(count.tensor).name)},
                    count.letters,
                    shape_cell("shape", count.sizes),
                    count_cell("numbers", count.numbers)});
  report.text += "\nParameters\n";
  const Cell total = count_cell("parameter_count", total_parameters(parameters));
  report.add_list("parameters", rows,
                  rows.empty() ? Row{"none", {total.key, total.value}} : Row{"all", "", "", total});
}

void add_products(const OperationCounts& counts, Report& report) {
  std::vector<Row> rows;
  for (const ProductCount& product : counts.products)
    rows.push_back({text_cell("step", std::string(step_entries()[static_cast<std::size_t>(product.step)].name)),
                    text_cell("result", std::string(tensor_entry(product.result).name)),
                    text_cell("einsum", product.einsum), text_cell("letters", product.letters),
                    count_cell("multiply_adds", product.multiply_adds)});
  report.text += "\nMultiply-adds, step by step\n";
  report.add_list("products", rows, {"all", "", "", "", count_cell("multiply_adds", counts.multiply_adds)});
  report.add_line("  and {} exponentials in the softmax\n", {count_cell("exponentials", counts.exponentials)});
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

Report memory_report(const AttentionInputs& inputs) {
  Report report{fmt::format("\nMemory, in {}\n", dtype_name(inputs.dtype))};
  const Index trace_bytes = reference_trace_bytes(inputs), free_bytes = available_memory();
  report.add_rows({{"inputs and parameters", bytes_cell("inputs", bytes_of_inputs(inputs))},
                   {"the trace: every intermediate", bytes_cell("trace", trace_bytes)},
                   {{"free", free_bytes}}});
  if (trace_bytes > free_bytes)
    report.text += fmt::format("  The trace does not fit: {} available.\n", bytes_text(free_bytes));
  return report;
}

void add_tensors(const TracePtr& trace, Report& report) {
  std::vector<Row> rows;
  if (trace) report.text += "\nTensors\n";
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = trace ? trace->tensors.*(entry.member) : nullptr;
    if (!tensor) continue;
    rows.push_back(
        {text_cell("name", std::string(entry.name)), text_cell("dtype", dtype_name(tensor->dtype())),
         text_cell("letters", tensor->shape().letters()), shape_cell("shape", tensor->shape().sizes()),
         bytes_cell("bytes", static_cast<Index>(tensor->bytes()))});
  }
  report.add_list("tensors", rows);
}

Report layout_report(const LayoutComparison& comparison) {
  Report report{"\n  One packed matrix, three, or a small one per head?\n"};
  std::vector<Row> rows;
  if (comparison.not_asked.empty())
    rows.push_back(
        {"layout", "matrices", "products", "parameters", "multiply-adds", "max |Δ| output", "einsum"});
  for (const LayoutAnswer& answer : comparison.layouts) {
    const std::string& why = comparison.not_asked.empty() ? answer.impossible_reason : comparison.not_asked;
    if (!why.empty()) {
      rows.push_back({{"layout", choice_name(answer.layout)}, {"possible", false}, {"why", why}});
      continue;
    }
    Json matrices = Json::array();
    for (const MatrixGroup& group : answer.matrices)
      matrices.push_back({{"count", group.count},
                          {"name", group.name},
                          {"letters", group.letters},
                          {"shape", {group.rows, group.cols}}});
    rows.push_back({{"layout", choice_name(answer.layout), layout_words(answer.layout)},
                    {"possible", true},
                    {"matrices", matrices, matrices_text(answer)},
                    {"weights", answer.weights},
                    {"biases", answer.biases},
                    count_text(answer.products),
                    count_cell("parameters", answer.parameters()),
                    {"products", answer.products},
                    count_cell("multiply_adds", answer.multiply_adds),
                    fmt::format("{:.2g}", answer.output_difference),
                    text_cell("einsum", answer.einsum),
                    {"max_difference",
                     {{"projection", answer.projection_difference}, {"output", answer.output_difference}}}});
  }
  report.add_list("layouts", rows);
  report.json["output_magnitude"] = comparison.output_magnitude;
  report.add_sentences(comparison.sentences);
  return report;
}

Row heads_row(const char* path, const HeadsCase& heads) {
  return {{fmt::format("{} × {}", heads.heads, heads.head_dim),
           {"heads", heads.heads},
           {"head_dim", heads.head_dim},
           {"v_head_dim", heads.v_head_dim},
           {"scale", heads.scale},
           count_cell("parameters", heads.parameters),
           count_cell("multiply_adds", heads.counts.multiply_adds),
           count_cell("exponentials", heads.counts.exponentials),
           fmt::format("{:.4g}", heads.scale),
           text_cell("scores_einsum", heads.scores_einsum)},
          path};
}

Row distance_row(const std::string& name, const std::string& path, const TensorDistance& distance) {
  return {{name, number_cell("max_difference", distance.difference, "{:.3g}"),
           number_cell("magnitude", distance.magnitude, "{:.3g}")},
          path};
}

Report head_width_report(const HeadWidthComparison& c) {
  Report report;
  report.text = fmt::format("\n  {} heads of {}, or one of {}?\n", c.many.heads, c.many.head_dim,
                            c.many.heads * c.many.head_dim);
  report.json["possible"] = c.possible();
  if (c.possible()) {
    report.json["same"] = c.coincide;
    report.add_rows({{"heads", "parameters", "multiply-adds", "exponentials", "scale", "einsum of the scores"},
                     heads_row("many", c.many),
                     heads_row("one", c.wide)});
    std::vector<Row> rows{{"", "max |Δ|", "largest"}, distance_row("output", "output", c.output)};
    rows.push_back({{"attn_weights_max_difference", c.map_differences}});
    if (!c.map_differences.empty())
      rows.push_back(
          {"attn_weights", fmt::format("{:.3g}", *std::ranges::max_element(c.map_differences)), "1"});
    rows.push_back({{"score_sum_max_difference", c.score_sum_difference}, {"gradients", Json::object()}});
    for (const TensorDistance& gradient : c.gradients) {
      const std::string name = fmt::format("grad.{}", tensor_entry(gradient.tensor).name);
      rows.push_back(distance_row(name, "gradients/" + name, gradient));
    }
    report.add_rows(rows);
  } else {
    report.json["why"] = c.impossible_reason;
  }
  report.add_sentences(c.sentences);
  return report;
}

Json soft_json(const SoftLookup& lookup) {
  return {{"temperature", lookup.temperature},
          {"weights", lookup.weights},
          {"result", lookup.result},
          {"winner_weight", lookup.winner_weight},
          {"max_difference", lookup.difference}};
}

Report lookup_report(const LookupComparison& c) {
  Report report;
  report.json["batch"] = c.batch;
  report.add_line("\n  A soft look-up, or a hard one? (head {}, query {})\n",
                  {integer_cell("head", c.head), integer_cell("query", c.query)});
  Json& json = report.json;
  json["possible"] = c.possible();
  if (!c.possible()) json["why"] = c.impossible_reason;
  json["winner"] = c.possible() ? Json(c.winner) : Json();
  json["hard"] = c.hard_result;
  json["soft"] = soft_json(c.soft);
  json["cooler"] = Json::array();
  for (const SoftLookup& lookup : c.cooler) json["cooler"].push_back(soft_json(lookup));
  report.add_sentences(c.sentences);
  return report;
}

// The shares of the heads and last of the bias in Σ |part| over all cells of the output: they add up to 1, or
// are all 0. Nothing without an output projection.
void add_output_shares(const Trace& trace, Report& report) {
  const TraceTensors& t = trace.tensors;
  if (!t.out_proj_weight || !t.concat) return;
  std::vector<double> shares = output_magnitudes_by_heads(
      *trace.tensor(rows_of_output(t)), *t.out_proj_weight, t.out_proj_bias.get(), trace.options.num_heads);
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  TextRow words;
  for (double& share : shares) {
    share = all == 0.0 ? 0.0 : share / all;
    const std::size_t h = words.size();
    words.push_back(fmt::format("{}: {:.1f} %", h + 1 < shares.size() ? fmt::format("head {}", h) : "bias",
                                100.0 * share));
  }
  report.add_line(
      "\n  Which heads make up the output?\n"
      "  output = Σ_h head_output_h · W_O,hᵀ + b. The sum of absolute values of each head's part over all "
      "cells, as a share of the total over heads and bias: {}.\n",
      {{"output_shares",
        {{"heads", std::vector<double>(shares.begin(), shares.end() - 1)}, {"bias", shares.back()}},
        join(words, ", ")}});
}

void add_not_computed(const std::string& why, Report& answers) {
  answers.add_line("  Not computed: {}.\n", {{"not_computed", why, why}});
}

// As far as there is memory for the trace and its comparisons; `answers` says why there is no more. The trace
// is null if there is none.
TracePtr answer_questions(const AttentionInputs& inputs, Index multiply_adds, Warnings& warnings,
                          Report& answers) {
  if (multiply_adds > most_multiply_adds) {
    add_not_computed(
        fmt::format(
            "{} multiply-adds are too many to compute several times; smaller sizes give the same answers",
            count_text(multiply_adds)),
        answers);
    return nullptr;
  }
  TracePtr trace;
  Report computed;
  try {
    std::optional<ProgressPart> part(std::in_place, 0.0, 0.3);
    trace = reference_forward(inputs);
    for (const std::string& warning : trace->warnings) warnings.add(warning);
    part.emplace(0.3, 0.5, "layouts");
    computed.add_section("layouts", layout_report(compare_layouts(*trace)));
    part.emplace(0.5, 0.9, "head width");
    computed.add_section("head_width", head_width_report(compare_head_width(*trace)));
    const Shape& scores = trace->tensors.masked_scores->shape();
    if (scores.size(0) > 0 && scores.size(2) > 0)  // of batch 0, head 0 and the last query
      computed.add_section("lookup", lookup_report(compare_lookups(*trace, 0, 0, scores.size(2) - 1)));
    add_output_shares(*trace, computed);
  } catch (const Error& error) {
    if (error.status() != ExitStatus::memory) throw;
    add_not_computed(error.what(), answers);
  }
  answers.text += computed.text;
  answers.json.update(computed.json);
  return trace;
}

}  // namespace

Report scenario_info(const TraceRequest& request) {
  Warnings warnings;
  std::optional<ProgressPart> part(std::in_place, 0.0, 0.1, "inputs and parameters");
  const ScenarioInputs made = read_inputs(request, warnings);
  part.emplace(0.1, 1.0);
  const AttentionInputs& inputs = made.attention;
  check_attention_inputs(inputs);
  const OperationCounts counts = operation_counts(inputs);
  Report report, answers{"\nAre they the same?\n"};
  report.add_line("{}: {}, {}, {}\n", {text_cell("file", request.scenario), text_cell("format", "scenario"),
                                       text_cell("op", std::string(choice_name(inputs.options.op))),
                                       text_cell("dtype", dtype_name(inputs.dtype))});
  report.add_section("sizes", size_report(inputs));
  add_parameters(inputs, report);
  add_products(counts, report);
  report.add_section("bytes", memory_report(inputs));
  add_tensors(answer_questions(inputs, counts.multiply_adds, warnings, answers), report);
  report.add_section("answers", answers);
  warnings.refuse_where(request.strict);
  report.json["notes"] = warnings.all();
  return report;
}

}  // namespace headwise
