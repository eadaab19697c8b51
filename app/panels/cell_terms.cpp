#include "app/panels/cell_terms.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/picture/label_text.h"

namespace headwise {
namespace {

const std::vector<std::string>* tokens_of(const TokenLabels& labels, const std::string& axis) {
  if (axis == "L") return &labels.query;
  if (axis == "S" || axis == "S′") return &labels.key;
  return nullptr;
}

std::string index_name(const TokenLabels& labels, const Axis& axis, Index index) {
  const auto* tokens = tokens_of(labels, axis.name);
  if (tokens && index < static_cast<Index>(tokens->size()))
    return printable((*tokens)[static_cast<std::size_t>(index)]);
  std::string letter = axis.name;
  if (letter == "D" || letter == "Dv" || letter == "E")
    letter[0] = static_cast<char>(std::tolower(letter[0]));
  // A joined axis has no letter that a reader would know the index by.
  if (letter.find("·") != std::string::npos) letter = "column";
  return fmt::format("{} {}", letter, index);
}

// The axis of a first factor that runs from term to term; −1 where none does.
Index running_axis(const std::vector<Term>& terms) {
  if (terms.size() < 2 || terms[0].factors.empty() || terms[1].factors.empty()) return -1;
  const CellRef &a = terms[0].factors[0], &b = terms[1].factors[0];
  if (a.tensor != b.tensor || a.index.size() != b.index.size()) return -1;
  for (std::size_t axis = 0; axis < a.index.size(); ++axis) {
    if (a.index[axis] != b.index[axis]) return static_cast<Index>(axis);
  }
  return -1;
}

double magnitude(const Term& term) {
  return std::isnan(term.value) ? std::numeric_limits<double>::infinity() : std::abs(term.value);
}

}  // namespace

CellTerms cell_terms(const Trace& trace, const TokenLabels& labels, const CellProvenance& provenance,
                     std::size_t shown) {
  CellTerms result;
  const std::vector<Term>& terms = provenance.terms;
  std::vector<std::size_t> order(terms.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  shown = std::min(shown, order.size());
  std::ranges::partial_sort(
      order, order.begin() + static_cast<std::ptrdiff_t>(shown), [&](std::size_t a, std::size_t b) {
        return magnitude(terms[a]) != magnitude(terms[b]) ? magnitude(terms[a]) > magnitude(terms[b]) : a < b;
      });
  const Index axis = running_axis(terms);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Term& term = terms[order[i]];
    result.sum += term.value;
    if (i >= shown) {
      ++result.more;
      result.more_value += term.value;
      continue;
    }
    NamedTerm named{term.label, term.factors, {}, term.value};
    for (const CellRef& factor : term.factors)
      named.values.push_back(trace.tensor(factor.tensor)->at(factor.index));
    if (named.name.empty() && !term.factors.empty()) {
      const CellRef& first = term.factors.front();
      const auto& axes = trace.tensor(first.tensor)->shape().axes();
      // The bias at the end of a projection has no running index.
      const bool runs = axis >= 0 && first.tensor == terms[0].factors[0].tensor;
      named.name = runs ? index_name(labels, axes[static_cast<std::size_t>(axis)],
                                     first.index[static_cast<std::size_t>(axis)])
                        : to_string(first.tensor);
    }
    result.largest.push_back(std::move(named));
  }
  return result;
}

std::string box_text(const Trace& trace, const BoxRef& box) {
  const TensorPtr tensor = trace.tensor(box.tensor);
  std::vector<std::string> parts;
  for (std::size_t axis = 0; axis < box.begin.size(); ++axis) {
    const Index begin = box.begin[axis], end = box.end[axis];
    const bool whole = tensor && begin == 0 && end == tensor->shape().size(static_cast<Index>(axis));
    if (end == begin + 1) {
      parts.push_back(fmt::format("{}", begin));
    } else if (whole) {
      parts.emplace_back(":");
    } else {
      parts.push_back(fmt::format("{}:{}", begin, end));
    }
  }
  return fmt::format("{}[{}]", to_string(box.tensor), fmt::join(parts, ","));
}

std::string cell_tokens(const Trace& trace, const TokenLabels& labels, const CellRef& cell) {
  const TensorPtr tensor = trace.tensor(cell.tensor);
  std::string text;
  if (!tensor) return text;
  for (std::size_t axis = 0; axis < cell.index.size(); ++axis) {
    const auto* tokens = tokens_of(labels, tensor->shape().name(static_cast<Index>(axis)));
    if (!tokens || cell.index[axis] >= static_cast<Index>(tokens->size())) continue;
    if (!text.empty()) text += " → ";
    text += printable((*tokens)[static_cast<std::size_t>(cell.index[axis])]);
  }
  return text;
}

}  // namespace headwise
