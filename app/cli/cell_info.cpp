#include "app/cli/cell_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/command_line.h"
#include "app/content/cell_terms.h"
#include "core/attention/trace_warnings.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::size_t shown_terms = 6;

std::string term_text(const Trace& trace, const Term& term) {
  std::vector<std::string> factors;
  for (const CellRef& factor : term.factors)
    factors.push_back(
        fmt::format("{} {}", cell_text(factor), number_text(trace.tensor(factor.tensor)->at(factor.index))));
  const std::string from = factors.empty() ? term.label : join(factors, " · ");
  return fmt::format("      {:>13}  from {}\n", number_text(term.value + 0.0), from);
}

struct NamedCell {
  std::string tensor;
  std::vector<Index> index;
};

// "scores[0,0,8,1]"; scores:0,0,8,1 needs no quotes in a shell.
NamedCell named_cell(const std::string& word) {
  const std::size_t begin = word.find_first_of("[:");
  if (begin == 0 || begin == std::string::npos || (word[begin] == '[') != word.ends_with(']'))
    refuse_option("--cell", "this names no cell", word, "NAME[I,…], such as scores[0,0,8,1]");
  NamedCell cell{word.substr(0, begin), {}};
  std::string numbers = word.substr(begin + 1);
  if (word[begin] == '[') numbers.pop_back();
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = numbers.find(',', at);
    cell.index.push_back(integer_of("--cell", numbers.substr(at, end - at)));
  }
  return cell;
}

bool is_within(const Shape& shape, const std::vector<Index>& index) {
  if (std::ssize(index) != shape.rank()) return false;
  for (Index axis = 0; axis < shape.rank(); ++axis)
    if (index[axis] < 0 || index[axis] >= shape.size(axis)) return false;
  return true;
}

Json boxes_json(const std::vector<BoxRef>& boxes) {
  Json list = Json::array();
  for (const BoxRef& box : boxes)
    list.push_back({{"tensor", to_string(box.tensor)}, {"begin", box.begin}, {"end", box.end}});
  return list;
}

Json terms_json(const Trace& trace, const std::vector<Term>& terms) {
  Json list = Json::array();
  for (const Term& term : terms) {
    Json factors = Json::array();
    for (const CellRef& factor : term.factors)
      factors.push_back({{"tensor", to_string(factor.tensor)},
                         {"index", factor.index},
                         {"value", number_json(trace.tensor(factor.tensor)->at(factor.index))}});
    list.push_back({{"value", number_json(term.value)}, {"label", term.label}, {"factors", factors}});
  }
  return list;
}

}  // namespace

std::string cell_text(const CellRef& cell) {
  return fmt::format("{}[{}]", to_string(cell.tensor), join(cell.index, ","));
}

std::string provenance_text(const Trace& trace, const CellProvenance& cell, std::string_view whose) {
  std::string text = fmt::format("  {}: {}\n", whose, cell.formula);
  for (const auto& [name, value] : cell.quantities)
    text += fmt::format("        {} = {}\n", name, number_text(value));
  std::vector<Term> terms = cell.terms;
  if (cell.combine == Combine::given || terms.empty()) return text;
  const auto size = [](const Term& term) { return std::isnan(term.value) ? INFINITY : std::abs(term.value); };
  std::ranges::stable_sort(terms, std::ranges::greater{}, size);
  double rest = 0.0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i < shown_terms)
      text += term_text(trace, terms[i]);
    else
      rest += terms[i].value;
  }
  if (terms.size() > shown_terms)
    text += fmt::format("      {:>13}  from {} smaller terms\n", number_text(rest), terms.size() - shown_terms);
  if (!cell.note.empty()) text += fmt::format("  {}\n", cell.note);
  return text;
}

Report cell_info(TraceRequest request, const std::string& cell) {
  const NamedCell named = named_cell(cell);
  request.backward = named.tensor.starts_with("grad.");
  const TensorName name = requested_tensor(request, "--cell", named.tensor);
  const ComputedTrace computed = compute_trace(request);
  const Trace& trace = *computed.trace;
  const TensorPtr tensor = trace.tensor(name);
  if (!tensor)
    refuse_option("--cell", "there is no such tensor in this run", named.tensor, "", why_absent(trace, name));
  if (!is_within(tensor->shape(), named.index))
    refuse_option("--cell", "there is no such cell in this run", cell,
                  "indices within " + tensor->shape().to_string(), "indices count from 0");
  const CellProvenance provenance = cell_provenance(trace, name, named.index);
  const std::vector<BoxRef> feeds = cell_consumers(trace, name, named.index);
  const TokenLabels& labels = computed.inputs.labels;
  const std::string tokens = cell_tokens(trace, labels, provenance.cell);
  Json quantities = Json::object();
  for (const auto& [what, value] : provenance.quantities) quantities[what] = number_json(value);
  std::vector<std::string> fed;
  for (const BoxRef& box : feeds) fed.push_back(box_text(trace, box));

  Report report;
  report.add_line("{} = {}{}\n",
                  {{"cell", {{"tensor", named.tensor}, {"index", named.index}}, cell_text(provenance.cell)},
                   {"value", number_json(provenance.value), number_text(provenance.value)},
                   {"tokens", tokens, tokens.empty() ? "" : "   " + tokens}});
  const std::string meaning = cell_meaning(trace, labels, provenance.cell);
  report.add_line(meaning.empty() ? "" : "  {}\n", {{"meaning", meaning, meaning}});
  report.text += provenance_text(trace, provenance, "formula");
  report.add_line(fed.empty() ? "" : "  feeds {}\n", {{"feeds", boxes_json(feeds), join(fed, ", ")}});
  report.json.update({{"formula", provenance.formula},
                      {"note", provenance.note},
                      {"quantities", quantities},
                      {"terms", terms_json(trace, provenance.terms)},
                      {"sources", boxes_json(provenance.sources)},
                      {"text", report.text}});
  return report;
}

}  // namespace headwise
