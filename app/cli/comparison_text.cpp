#include "app/cli/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "app/cli/cell_info.h"
#include "core/attention/cell_provenance.h"
#include "core/attention/heads.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::size_t shown_causes = 3;
constexpr std::size_t shown_skipped = 12;  // a whole checkpoint may have been given
constexpr double rounding_of_f32_gradients = 1e-2;
constexpr std::string_view unit_words = ", where u is the largest number of the tensor, at most 1";

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text_width(text)), ' ');
}

// As many digits as the type supports.
std::string value_text(double value, DType type) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return type == DType::f32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

DType stored_type(const ComparedArray& array) {
  return array.stored_dtype == "f64" ? DType::f64 : DType::f32;
}

std::string label(const ComparedArray& array) {
  const std::string name = to_string(array.tensor);
  return array.stored_name == name ? name : fmt::format("{} ({})", name, one_line(array.stored_name, 60));
}

Row array_row(const ComparedArray& array, std::size_t name_width, std::size_t shape_width) {
  const TensorDifference& difference = array.difference;
  const bool refused = !array.refusal.empty();
  std::vector<std::string> remarks;
  if (refused) {
    remarks.push_back(array.refusal);
  } else if (!difference.agrees()) {
    remarks.push_back(fmt::format("{} of {} cells", difference.differing_cells, difference.cells));
  }
  if (!array.reading.empty()) remarks.push_back(array.reading);
  Row row{{"name", to_string(array.tensor), padded(label(array), name_width)},
          {"stored_name", array.stored_name},
          {"dtype", array.stored_dtype},
          {"stored_shape", array.stored_shape, padded(array.stored_shape, shape_width)},
          {"shape", difference.our_shape},
          {"tolerance", array.tolerance},
          refused ? "" : fmt::format("{:.3g}", difference.largest_absolute),
          {"agrees", array.agrees(), array.agrees() ? "ok" : "DIFFERS"},
          remarks.empty() ? "" : "  " + join(remarks, "; ")};
  const auto add = [&row](const char* key, Json value) { row.cells.emplace_back(key, std::move(value)); };
  if (!array.reading.empty()) add("reading", array.reading);
  if (refused) {
    add("refusal", array.refusal);
    return row;
  }
  add("cells", difference.cells);
  add("differing_cells", difference.differing_cells);
  add("largest_absolute", number_json(difference.largest_absolute));
  add("largest_relative", number_json(difference.largest_relative));
  if (difference.worst.empty()) return row;
  add("worst", difference.worst);
  add("ours", number_json(difference.ours));
  add("theirs", number_json(difference.theirs));
  return row;
}

// The worst cell in the trace's own tensor: repeated key/value heads are mapped to the one that they repeat.
std::vector<Index> own_index(const Trace& trace, const ComparedArray& array) {
  std::vector<Index> index = array.difference.worst;
  const TensorPtr own = trace.tensor(array.tensor);
  if (index.size() == 4 && own->shape().size(1) < array.ours->shape().size(1))
    index[1] = kv_head_of(index[1], trace.options.num_heads, trace.options.num_kv_heads);
  return index;
}

// A sentence ends with exactly one punctuation mark.
std::string sentence(const std::string& text) {
  return text + (text.ends_with('?') || text.ends_with('.') ? "" : ".");
}

// Which of the tensors that this one is computed from are known to agree: the fault is not there.
std::string sources_text(const ComparisonReport& report, const ComparedArray& first,
                         const CellProvenance& cell) {
  std::vector<std::string> agreeing, missing;
  std::vector<TensorName> sources;
  for (const Term& term : cell.terms)
    for (const CellRef& factor : term.factors)
      if (std::ranges::find(sources, factor.tensor) == sources.end()) sources.push_back(factor.tensor);
  for (const TensorName source : sources) {
    if (is_given(report.trace, source)) continue;
    const bool there = std::ranges::any_of(report.comparison.arrays, [&](const ComparedArray& array) {
      return array.tensor == source && array.agrees();
    });
    (there ? agreeing : missing).push_back(to_string(source));
  }
  std::string text;
  if (!agreeing.empty())
    text += fmt::format("  {} {}: the difference arises {}.\n", join(agreeing, " and "),
                        agreeing.size() == 1 ? "agrees" : "agree",
                        missing.empty() ? "in this step" : "in this step or before " + join(missing, ", "));
  else if (!missing.empty())
    text += fmt::format("  Not in the file, but computed before {}: {}. Save them too, to find the step.\n",
                        to_string(first.tensor), join(missing, ", "));
  return text;
}

// If a cell is a copy of another that the file does not have,
// the computation of that one is more informative; else none.
std::optional<CellProvenance> copied_cell(const ComparisonReport& report, const CellProvenance& cell) {
  if (cell.combine != Combine::copy || cell.terms.size() != 1 || cell.terms[0].factors.size() != 1)
    return std::nullopt;
  const CellRef& source = cell.terms[0].factors[0];
  const bool compared = std::ranges::find(report.comparison.arrays, source.tensor, &ComparedArray::tensor) !=
                        report.comparison.arrays.end();
  if (compared || is_given(report.trace, source.tensor)) return std::nullopt;
  try {
    return cell_provenance(report.trace, source.tensor, source.index);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// None for what has no rule (a gradient's may be missing).
std::optional<CellProvenance> worst_cell(const Trace& trace, const ComparedArray& array) {
  if (!array.ours || array.difference.worst.empty()) return std::nullopt;
  try {
    return cell_provenance(trace, array.tensor, own_index(trace, array));
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The last line where nothing explains the difference: how much was tried, and what would help.
std::string no_cause_text(const ComparisonReport& report) {
  const Findings& findings = report.findings;
  std::string text = "  No cause was found: ";
  text += findings.tried.singles == 0
              ? "nothing was tried, because these numbers fit too many mistakes"
              : fmt::format("{} and {} were tried",
                            counted(static_cast<long>(findings.tried.singles), "single mistake"),
                            counted(static_cast<long>(findings.tried.pairs), "pair"));
  if (findings.next_tensor)
    text += fmt::format(". Save their {}, too: it narrows the search down", to_string(*findings.next_tensor));
  else if (findings.next_array)
    text += fmt::format(
        ". What comes before {} agrees, so it is computed differently: compare it alone, in a file without "
        "the others",
        one_line(*findings.next_array, 60));
  return text + ".\n";
}

std::string causes_text(const ComparisonReport& report, const ComparedArray& first) {
  std::string text;
  for (std::size_t i = 0; i < std::min(report.findings.causes.size(), shown_causes); ++i) {
    const LikelyCause& cause = report.findings.causes[i];
    text += fmt::format("  Likely cause: {}{}\n", sentence(cause.text),
                        cause.remedy.empty() ? "" : " In Headwise: " + cause.remedy);
  }
  for (const std::string& fact : report.findings.facts) text += fmt::format("  Note: {}\n", sentence(fact));
  const TensorDifference& difference = first.difference;
  const bool little =
      difference.non_finite_mismatches == 0 && difference.worst_relative < rounding_of_f32_gradients;
  if (first.tensor.gradient && first.refusal.empty() && report.trace.dtype == DType::f32 && little)
    text +=
        "  In f32 the gradients of two correct programs can differ this much where the softmax saturates: "
        "compare in f64.\n";
  if (!report.causes_searched)
    return text + "  Causes in options and inputs were not tried at this size; try a smaller case.\n";
  const bool unexplained = report.findings.causes.empty() && !is_given(report.trace, first.tensor);
  return unexplained ? text + no_cause_text(report) : text;
}

std::string first_text(const ComparisonReport& report, const ComparedArray& first) {
  std::string text = fmt::format("\nThe first tensor that differs is {}.\n", label(first));
  const TensorDifference& difference = first.difference;
  if (!first.refusal.empty())
    return text + fmt::format("  It could not be compared: {}\n", sentence(first.refusal)) +
           causes_text(report, first);
  text += fmt::format(
      "  worst cell [{}]: ours {}, theirs {}: |ours − theirs| = {:.3g} = {:.3g} · max(|ours|, |theirs|, u), "
      "and {:g} is allowed{}\n",
      join(difference.worst, ","), value_text(difference.ours, report.trace.dtype),
      value_text(difference.theirs, stored_type(first)), difference.worst_absolute, difference.worst_relative,
      first.tolerance, unit_words);
  if (difference.non_finite_mismatches > 0)
    text += fmt::format("  {} cells are NaN or infinite on one side only.\n", difference.non_finite_mismatches);
  if (is_given(report.trace, first.tensor)) {
    text += fmt::format(
        "  {} is an input: the two programs did not start from the same numbers. Pass theirs with --input.\n",
        to_string(first.tensor));
  } else if (const auto cell = worst_cell(report.trace, first)) {
    text += provenance_text(report.trace, *cell, "ours");
    for (auto copied = cell; (copied = copied_cell(report, *copied));)
      text += provenance_text(report.trace, *copied, "ours");
    text += sources_text(report, first, *cell);
  }
  return text + causes_text(report, first);
}

std::string agreement_text(const ComparisonReport& report) {
  const std::vector<ComparedArray>& arrays = report.comparison.arrays;
  double tolerance = 0.0;
  bool wider = false;
  for (const ComparedArray& array : arrays) {
    tolerance = std::max(tolerance, array.tolerance);
    wider = wider || (array.stored_dtype == "f64" && report.trace.dtype == DType::f32);
  }
  std::string text = arrays.size() == 1
                         ? fmt::format("\nThe tensor agrees within {:g}", tolerance)
                         : fmt::format("\nAll {} tensors agree within {:g}", arrays.size(), tolerance);
  text += tolerance == 0.0
              ? ": every number is identical.\n"
              : fmt::format(": in every cell |ours − theirs| ≤ {:g} · max(|ours|, |theirs|, u){}.\n",
                            tolerance, unit_words);
  if (wider) text += "Theirs is f64, ours was computed in f32: use --dtype f64 for a closer comparison.\n";
  return text;
}

// In text only the first.
void add_skipped(const std::vector<SkippedArray>& skipped, Report& report) {
  Json& list = report.json["not_compared"] = Json::array();
  for (const SkippedArray& array : skipped) {
    list.push_back({{"name", array.stored_name}, {"reason", array.reason}});
    if (list.size() > shown_skipped) continue;
    report.text += fmt::format("  not compared: {}: {}\n", one_line(array.stored_name, 60), array.reason);
  }
  if (skipped.size() > shown_skipped)
    report.text += fmt::format("  and {} more not compared\n", skipped.size() - shown_skipped);
}

// For programs: in sentences first_text tells it.
void add_first(const ComparisonReport& comparison, const ComparedArray& first, Json& json) {
  const Findings& findings = comparison.findings;
  json["first_difference"] = to_string(first.tensor);
  if (const auto cell = worst_cell(comparison.trace, first)) json["formula"] = cell->formula;
  Json& causes = json["likely_causes"] = Json::array();
  for (const LikelyCause& cause : findings.causes)
    causes.push_back({{"cause", cause.text}, {"remedy", cause.remedy}});
  if (!findings.facts.empty()) json["facts"] = findings.facts;
  json["tried"] = {{"single_mistakes", findings.tried.singles}, {"pairs", findings.tried.pairs}};
  if (findings.next_tensor) json["next_tensor"] = to_string(*findings.next_tensor);
  if (findings.next_array) json["next_array"] = *findings.next_array;
}

}  // namespace

std::string verdict_line(const ComparedArray& array) {
  if (!array.refusal.empty()) return fmt::format("{}: {}", to_string(array.tensor), array.refusal);
  return difference_text(array.difference);
}

Report comparison_report(const ComparisonReport& comparison) {
  const std::vector<ComparedArray>& arrays = comparison.comparison.arrays;
  const ComparedArray* first = comparison.comparison.first_difference();
  std::size_t name_width = 6, shape_width = 5;
  for (const ComparedArray& array : arrays) {
    name_width = std::max(name_width, text_width(label(array)));
    shape_width = std::max(shape_width, array.stored_shape.size());
  }
  std::vector<Row> rows;
  for (const ComparedArray& array : arrays) rows.push_back(array_row(array, name_width, shape_width));
  const std::string dtype = dtype_name(comparison.trace.dtype);
  Report report;
  report.add_line("{} in {} against {}\n\n", {text_cell("scenario", comparison.scenario),
                                              dtype,
                                              text_cell("with", comparison.theirs),
                                              {"dtype", dtype},
                                              {"agrees", first == nullptr}});
  report.add_line("  {}  {}  {:<10}\n",
                  {padded("tensor", name_width), padded("shape", shape_width), "max |Δ|"});
  report.add_list("tensors", "  {}  {}  {:<10} {}{}\n", rows);
  add_skipped(comparison.comparison.skipped, report);
  report.text += first == nullptr ? agreement_text(comparison) : first_text(comparison, *first);
  if (first != nullptr) add_first(comparison, *first, report.json);
  return report;
}

void LayerReports::add(Index layer, const ComparisonReport& comparison) {
  const ComparedArray* first = comparison.comparison.first_difference();
  const std::size_t count = comparison.comparison.arrays.size();
  const std::string tensors = counted(static_cast<Index>(count), "tensor");
  lines += fmt::format("  {:>5}  {:<12} {}{}\n", layer, tensors, first == nullptr ? "ok" : "DIFFERS",
                       first == nullptr ? "" : fmt::format("  first in {}", label(*first)));
  Report report = comparison_report(comparison);
  Json& one = layers.emplace_back(Json{{"layer", layer}});
  one.update(report.json);
  if (first == nullptr || !first_layer.is_null()) return;
  first_layer = layer;
  first_differing = "\n" + std::move(report.text);
}

Report LayerReports::report() const {
  Report report;
  report.add_line("{} against {}, layer by layer\n\n  layer\n",
                  {text_cell("scenario", scenario), text_cell("with", theirs)});
  report.text += lines;
  report.json.update({{"agrees", first_layer.is_null()}, {"first_layer", first_layer}, {"layers", layers}});
  add_skipped(skipped, report);
  report.text += first_differing.empty() ? "\nAll layers agree.\n" : first_differing;
  return report;
}

}  // namespace headwise
