#include "tests/core/attention/provenance_checks.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "core/attention/cell_reach.h"
#include "core/tensor/error.h"

namespace headwise::test {
namespace {

// Equal to 1e-12, NaN to NaN, infinities to the same one.
bool agree(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= 1e-12 * std::max({1.0, std::abs(a), std::abs(b)});
}

template <class F>
void for_each_cell(const Trace& trace, TensorName tensor, F&& f) {
  const Shape& shape = trace.tensor(tensor)->shape();
  for (Index flat = 0; flat < shape.element_count(); ++flat) f(shape.index_of(flat));
}

std::string cell_name(TensorName tensor, const std::vector<Index>& index) {
  return fmt::format("{}[{}]", to_string(tensor), fmt::join(index, ","));
}

Cell cell_of(const Trace& trace, TensorName tensor, const std::vector<Index>& index) {
  const Index flat = trace.tensor(tensor)->shape().offset(index);
  const Cell number = static_cast<Cell>(tensor.id) << 1 | (tensor.gradient ? 1 : 0);
  return number << 32 | static_cast<Cell>(flat);
}

void append_box(const Trace& trace, const BoxRef& box, std::vector<Cell>& cells) {
  std::vector<Index> index = box.begin;
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    if (box.begin[axis] >= box.end[axis]) FAIL("an empty box of ", to_string(box.tensor));
  for (;;) {
    cells.push_back(cell_of(trace, box.tensor, index));
    std::size_t axis = index.size();
    while (axis-- > 0) {
      if (++index[axis] < box.end[axis]) break;
      index[axis] = box.begin[axis];
      if (axis == 0) return;
    }
    if (index.empty()) return;
  }
}

std::vector<Cell> term_cells(const Trace& trace, const CellProvenance& provenance) {
  std::vector<Cell> cells;
  for (const Term& term : provenance.terms)
    for (const CellRef& factor : term.factors) cells.push_back(cell_of(trace, factor.tensor, factor.index));
  std::ranges::sort(cells);
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

// Where every cell of a tensor comes from, by its rule, which is declared once; of the first cell
// cell_provenance has to say the same.
template <class F>
void for_each_provenance(const Trace& trace, TensorName tensor, F&& f) {
  const Rule rule = declared_rule(trace, tensor);
  for_each_cell(trace, tensor, [&](const std::vector<Index>& index) {
    const CellProvenance provenance = provenance_by_rule(trace, rule, index);
    const bool is_first = std::ranges::all_of(index, [](Index i) { return i == 0; });
    if (is_first) {
      const CellProvenance asked = cell_provenance(trace, tensor, index);
      if (asked.sources != provenance.sources || term_cells(trace, asked) != term_cells(trace, provenance) ||
          asked.formula != provenance.formula)
        FAIL("cell_provenance of ", cell_name(tensor, index));
    }
    f(index, provenance);
  });
}

// Everything that `pairs`, sorted by their first cell, lead to from a cell.
std::vector<Cell> followed(const Pairs& pairs, Cell start) {
  std::vector<Cell> open{start};
  std::set<Cell> seen;
  while (!open.empty()) {
    const Cell cell = open.back();
    open.pop_back();
    for (auto pair = std::ranges::lower_bound(pairs, std::pair<Cell, Cell>{cell, 0});
         pair != pairs.end() && pair->first == cell; ++pair)
      if (seen.insert(pair->second).second) open.push_back(pair->second);
  }
  return {seen.begin(), seen.end()};
}

bool is_gradient(Cell cell) {
  return (cell >> 32 & 1) != 0;
}

}  // namespace

std::vector<Cell> cells_in(const Trace& trace, const std::vector<BoxRef>& boxes) {
  std::vector<Cell> cells;
  for (const BoxRef& box : boxes) append_box(trace, box, cells);
  std::ranges::sort(cells);
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

std::vector<TensorName> tensors_of(const Trace& trace) {
  std::vector<TensorName> names;
  for (const bool gradient : {false, true}) {
    for (const TensorEntry& entry : tensor_entries())
      if (trace.tensor({entry.id, gradient})) names.push_back({entry.id, gradient});
  }
  return names;
}

std::string first_unexplained(const Trace& trace, const Rule& rule) {
  std::string found;
  for_each_cell(trace, rule.result, [&](const std::vector<Index>& index) {
    if (!found.empty()) return;
    const CellProvenance provenance = provenance_by_rule(trace, rule, index);
    const double again = recompute_from_provenance(trace, provenance);
    if (!agree(provenance.value, again))
      found = fmt::format("{} is {}, from its provenance {}", cell_name(rule.result, index), provenance.value,
                          again);
  });
  return found;
}

std::string first_unexplained(const Trace& trace) {
  for (const TensorName tensor : tensors_of(trace)) {
    const std::string found = first_unexplained(trace, declared_rule(trace, tensor));
    if (!found.empty()) return found;
  }
  return {};
}

std::string first_wrong_box(const Trace& trace) {
  std::string found;
  for (const TensorName tensor : tensors_of(trace)) {
    for_each_provenance(trace, tensor, [&](const std::vector<Index>& index, const CellProvenance& provenance) {
      if (found.empty() && cells_in(trace, provenance.sources) != term_cells(trace, provenance))
        found = cell_name(tensor, index);
    });
  }
  return found;
}

Pairs pairs_from_sources(const Trace& trace) {
  Pairs pairs;
  for (const TensorName tensor : tensors_of(trace)) {
    for_each_provenance(trace, tensor, [&](const std::vector<Index>& index, const CellProvenance& provenance) {
      const Cell result = cell_of(trace, tensor, index);
      for (const Cell source : term_cells(trace, provenance)) pairs.emplace_back(source, result);
    });
  }
  std::ranges::sort(pairs);
  return pairs;
}

Pairs pairs_from_consumers(const Trace& trace) {
  std::vector<Rule> rules;  // declared once: every cell asks all of them
  for (const TensorName tensor : tensors_of(trace)) rules.push_back(declared_rule(trace, tensor));
  Pairs pairs;
  for (const TensorName tensor : tensors_of(trace)) {
    if (first_name(trace, tensor) != tensor) continue;  // in self-attention, key is query
    for_each_cell(trace, tensor, [&](const std::vector<Index>& index) {
      std::vector<BoxRef> boxes;
      for (const Rule& rule : rules)
        for (BoxRef& box : cells_made_from(rule, tensor, index)) boxes.push_back(std::move(box));
      const Cell source = cell_of(trace, tensor, index);
      const std::vector<Cell> results = cells_in(trace, boxes);
      for (const Cell result : results) pairs.emplace_back(source, result);
      const bool is_first = std::ranges::all_of(index, [](Index i) { return i == 0; });
      if (is_first && results != cells_in(trace, cell_consumers(trace, tensor, index)))
        FAIL("cell_consumers of ", cell_name(tensor, index));
    });
  }
  std::ranges::sort(pairs);
  return pairs;
}

std::string first_wrong_reach(const Trace& trace, const Pairs& pairs, Index stride) {
  Pairs back;
  for (const auto& [source, result] : pairs) back.emplace_back(result, source);
  std::ranges::sort(back);
  Pairs forward = pairs;  // of a value: to values only
  std::erase_if(forward, [](const auto& pair) { return !is_gradient(pair.first) && is_gradient(pair.second); });
  std::string found;
  Index count = 0;
  for (const TensorName tensor : tensors_of(trace)) {
    if (first_name(trace, tensor) != tensor) continue;
    for_each_cell(trace, tensor, [&](const std::vector<Index>& index) {
      if (!found.empty() || count++ % stride != 0) return;
      const CellReach reach = cell_reach(trace, tensor, index);
      const Cell cell = cell_of(trace, tensor, index);
      if (cells_in(trace, reach.back) != followed(back, cell))
        found = "back from " + cell_name(tensor, index);
      if (cells_in(trace, reach.forward) != followed(forward, cell))
        found = "forward from " + cell_name(tensor, index);
      Index covered = 0;
      for (const TensorName each : tensors_of(trace)) covered += cells_covered(reach.back, each);
      if (covered != static_cast<Index>(cells_in(trace, reach.back).size()))
        found = "the count of what is behind " + cell_name(tensor, index);
    });
  }
  return found;
}

bool is_caught(const Trace& trace, const Rule& rule) {
  try {
    return !first_unexplained(trace, rule).empty();
  } catch (const Error&) {
    return true;
  } catch (const std::out_of_range&) {
    return true;
  }
}

}  // namespace headwise::test
