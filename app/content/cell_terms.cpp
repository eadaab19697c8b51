#include "app/content/cell_terms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/picture/label_text.h"
#include "core/tensor/join.h"

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
  // A joined axis has no letter by which a reader would know the index.
  if (axis.name.find("·") != std::string::npos) return fmt::format("col {}", index);
  std::string letter = axis.name;
  if (!letter.empty()) letter[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(letter[0])));
  return fmt::format("{} {}", letter, index);
}

// Terms that begin with the same tensor, and the axes of its index that vary between terms.
struct TermGroup {
  TensorName tensor;
  const std::vector<Index>* first = nullptr;
  std::vector<bool> runs;

  bool any() const { return std::ranges::find(runs, true) != runs.end(); }
};

// A sum may have several: x·Wᵀ with its bias, or the gradients coming back through q, k and v.
std::vector<TermGroup> term_groups(const std::vector<Term>& terms) {
  std::vector<TermGroup> groups;
  for (const Term& term : terms) {
    if (term.factors.empty() || !term.label.empty()) continue;
    const CellRef& cell = term.factors.front();
    auto group = std::ranges::find(groups, cell.tensor, &TermGroup::tensor);
    if (group == groups.end()) {
      groups.push_back({cell.tensor, &cell.index, std::vector<bool>(cell.index.size(), false)});
      continue;
    }
    for (std::size_t axis = 0; axis < cell.index.size(); ++axis) {
      if (cell.index[axis] != (*group->first)[axis]) group->runs[axis] = true;
    }
  }
  return groups;
}

// "d 1", the token "animal", "n 0, it", "grad.k, col 3"; the tensor alone if no axis varies.
std::string term_name(const Trace& trace, const TokenLabels& labels, const std::vector<TermGroup>& groups,
                      const CellRef& first) {
  const auto group = std::ranges::find(groups, first.tensor, &TermGroup::tensor);
  std::vector<std::string> parts;
  if (!group->any() || std::ranges::count_if(groups, &TermGroup::any) > 1) {
    parts.push_back(to_string(first.tensor));
  }
  const auto& axes = trace.tensor(first.tensor)->shape().axes();
  for (std::size_t axis = 0; axis < group->runs.size(); ++axis) {
    if (group->runs[axis]) parts.push_back(index_name(labels, axes[axis], first.index[axis]));
  }
  return join(parts, ", ");
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
  const std::vector<TermGroup> groups = term_groups(terms);
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
    if (named.name.empty() && !term.factors.empty())
      named.name = term_name(trace, labels, groups, term.factors.front());
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
  return fmt::format("{}[{}]", to_string(box.tensor), join(parts, ","));
}

std::string token_at(const std::vector<std::string>& labels, Index at, std::string_view letter) {
  if (at < 0 || at >= static_cast<Index>(labels.size())) return fmt::format("{}{}", letter, at);
  const std::string& word = labels[static_cast<std::size_t>(at)];
  std::string text = printable(word);
  if (std::ranges::count(labels, word) < 2) return text;
  constexpr const char* subscripts[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  for (const char digit : std::to_string(at)) text += subscripts[digit - '0'];
  return text;
}

std::string cell_tokens(const Trace& trace, const TokenLabels& labels, const CellRef& cell) {
  const TensorPtr tensor = trace.tensor(cell.tensor);
  std::string text;
  if (!tensor) return text;
  for (std::size_t axis = 0; axis < cell.index.size(); ++axis) {
    const auto* tokens = tokens_of(labels, tensor->shape().name(static_cast<Index>(axis)));
    if (!tokens || cell.index[axis] >= static_cast<Index>(tokens->size())) continue;
    if (!text.empty()) text += " → ";
    text += token_at(*tokens, cell.index[axis], "");
  }
  return text;
}

namespace {

// Design units
constexpr float widest_name = 150.0f, least_name = 26.0f, some_name = 56.0f;
constexpr float least_bar = 24.0f, bar_gap = 8.0f;
constexpr float bar_share = 0.13f;  // of the width, if there is room
constexpr float most_air = 26.0f;   // extra space between two columns beyond this goes to the names

float numbers_of(const TermWidths& widths, float sign) {
  return std::accumulate(widths.factors.begin(), widths.factors.end(), widths.value,
                         [sign](float sum, float factor) { return sum + factor + sign; });
}

}  // namespace

const float* TermColumns::end_of(std::size_t factor, std::size_t count) const {
  const std::size_t left_out = count - std::min(count, factor_ends.size());
  return factor < left_out ? nullptr : &factor_ends[factor - left_out];
}

TermColumns term_columns(std::span<const TermWidths> choices, float width, float sign, float scale) {
  struct Try {
    std::size_t choice;
    float name, bar;
  };
  std::vector<Try> tries;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const float whole = std::min(choices[i].name, widest_name * scale);
    const float some = std::min(whole, some_name * scale), least = std::min(whole, least_name * scale);
    for (const float name : {whole, some, least}) {
      tries.push_back({i, name, least_bar * scale});
      if (i + 1 == choices.size()) tries.push_back({i, name, 0.0f});
    }
  }
  TermColumns columns;
  if (tries.empty()) return columns;
  const auto needed = [&](const Try& each) {
    const float bar = each.bar > 0.0f ? each.bar + bar_gap * scale : 0.0f;
    return each.name + sign + numbers_of(choices[each.choice], sign) + bar;
  };
  const auto fits = [&](const Try& each) { return needed(each) <= width; };
  const auto found = std::ranges::find_if(tries, fits);
  const Try chosen = found == tries.end() ? tries.back() : *found;
  const TermWidths& widths = choices[chosen.choice];
  float spare = std::max(0.0f, width - needed(chosen));
  columns.decimals = widths.decimals;
  if (chosen.bar > 0.0f) {
    columns.bar = std::clamp(bar_share * width, chosen.bar, chosen.bar + spare);
    spare -= columns.bar - chosen.bar;
  }
  columns.bar_begin = width - columns.bar;
  columns.value_end = columns.bar > 0.0f ? columns.bar_begin - bar_gap * scale : width;
  const auto gaps = static_cast<float>(widths.factors.size() + 1);
  const float air = std::min(spare / gaps, most_air * scale);
  float end = columns.value_end - widths.value - sign - air;
  for (std::size_t i = widths.factors.size(); i-- > 0;) {
    if (end - widths.factors[i] < chosen.name) break;  // the first factors give way
    columns.factor_ends.insert(columns.factor_ends.begin(), end);
    end -= widths.factors[i] + sign + air;
  }
  columns.name = std::max(chosen.name, std::min(end, widest_name * scale));
  return columns;
}

}  // namespace headwise
