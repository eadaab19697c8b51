#include "core/trace/cell_provenance.h"

#include <algorithm>

#include "core/tensor/error.h"
#include "core/trace/cell_combination.h"
#include "core/trace/cell_formula.h"
#include "core/trace/cell_note.h"
#include "core/trace/gradient_rules.h"
#include "core/trace/mask_rule.h"

namespace headwise {
namespace {

const Tensor& kept_tensor(const Trace& trace, TensorName name, TensorName asked_for) {
  const TensorPtr tensor = trace.tensor(name);
  if (tensor) return *tensor;  // the trace keeps it alive
  throw Error(ExitStatus::usage,
              {to_string(asked_for), "this trace does not keep a tensor that the cell is made from",
               "no " + to_string(name), "a trace of the reference backend", ""});
}

// Appends the terms of one product: one for each combination of the summed indices, the last one varying
// fastest.
void append_terms(const Trace& trace, const Rule& rule, const Product& product,
                  const std::vector<Index>& index, std::vector<Term>& terms) {
  std::vector<const Tensor*> tensors;
  for (const Operand& factor : product.factors)
    tensors.push_back(&kept_tensor(trace, factor.tensor, rule.result));
  Index count = 1;
  for (const SummedAxis& sum : product.sums) count *= sum.size;
  terms.reserve(terms.size() + static_cast<std::size_t>(count));
  std::vector<Index> variables = index;
  variables.resize(index.size() + product.sums.size());
  for (Index i = 0; i < count; ++i) {
    Term& term = terms.emplace_back();
    term.label = product.label;
    term.value = 1.0;
    term.factors.reserve(product.factors.size());
    for (std::size_t f = 0; f < product.factors.size(); ++f) {
      CellRef& source = term.factors.emplace_back();
      source.tensor = product.factors[f].tensor;
      source.index.reserve(product.factors[f].axes.size());
      for (const AxisMap& map : product.factors[f].axes) source.index.push_back(mapped_index(map, variables));
      term.value *= tensors[f]->at(source.index);
    }
    if (rule.combine == Combine::merge_masks)
      term.value = mask_contribution(trace, product, index, term.value);
    for (std::size_t v = variables.size(); v-- > index.size();) {
      if (++variables[v] < product.sums[v - index.size()].size) break;
      variables[v] = 0;
    }
  }
}

bool contains(const BoxRef& outer, const BoxRef& inner) {
  if (outer.tensor != inner.tensor) return false;
  for (std::size_t axis = 0; axis < outer.begin.size(); ++axis) {
    if (inner.begin[axis] < outer.begin[axis] || inner.end[axis] > outer.end[axis]) return false;
  }
  return true;
}

void add_box(std::vector<BoxRef>& boxes, BoxRef box) {
  if (std::ranges::any_of(boxes, [&](const BoxRef& other) { return contains(other, box); })) return;
  std::erase_if(boxes, [&](const BoxRef& other) { return contains(box, other); });
  boxes.push_back(std::move(box));
}

void add_sources(const Product& product, const std::vector<Index>& index, std::vector<BoxRef>& boxes) {
  std::vector<Interval> ranges;
  for (const Index i : index) ranges.push_back({i, i + 1});
  for (const SummedAxis& sum : product.sums) {
    if (sum.size == 0) return;
    ranges.push_back({0, sum.size});
  }
  for (const Operand& factor : product.factors) {
    BoxRef box{factor.tensor, {}, {}};
    for (const AxisMap& map : factor.axes) {
      const Interval interval = mapped_interval(map, ranges);
      box.begin.push_back(interval.begin);
      box.end.push_back(interval.end);
    }
    add_box(boxes, std::move(box));
  }
}

}  // namespace

CellProvenance cell_provenance(const Trace& trace, TensorName tensor, const std::vector<Index>& index) {
  return provenance_by_rule(trace, declared_rule(trace, tensor), index);
}

CellProvenance provenance_by_rule(const Trace& trace, const Rule& rule, const std::vector<Index>& index) {
  CellProvenance provenance;
  provenance.cell = {rule.result, index};
  provenance.value = kept_tensor(trace, rule.result, rule.result).at(index);
  provenance.combine = rule.combine;
  std::size_t holding = 0;
  for (const Product& product : rule.products) {
    if (!holds_at(product, index)) continue;
    ++holding;
    if (product.instead) provenance.combine = *product.instead;
    append_terms(trace, rule, product, index, provenance.terms);
    add_sources(product, index, provenance.sources);
    const bool is_one_cell = product.factors.size() == 1 && product.sums.empty();
    if (rule.combine == Combine::product_sum && is_one_cell) provenance.combine = Combine::copy;
  }
  if (rule.combine == Combine::product_sum && holding != 1) provenance.combine = Combine::product_sum;
  const bool none_left = holding == 0 && !rule.products.empty() && rule.combine != Combine::merge_masks;
  if (none_left) provenance.combine = Combine::product_sum;  // an empty sum: 0
  add_quantities(trace, provenance);
  provenance.formula = cell_formula(trace, rule, provenance);
  provenance.note = cell_note(trace, provenance);
  return provenance;
}

std::vector<BoxRef> cells_made_from(const Rule& rule, TensorName tensor, const std::vector<Index>& index) {
  std::vector<BoxRef> boxes;
  const std::size_t rank = rule.sizes.size();
  for (const Product& product : rule.products) {
    const std::vector<Interval> ranges = variable_ranges(rule, product);
    for (const Operand& factor : product.factors) {
      if (factor.tensor != tensor) continue;
      const auto values = variables_leading_to(index, factor.axes, ranges);
      if (std::ranges::any_of(values, [](const auto& intervals) { return intervals.empty(); })) continue;
      // One box for each combination of the intervals of the result's axes; almost always just one.
      std::vector<std::size_t> choice(rank, 0);
      for (bool more = true; more;) {
        BoxRef box{rule.result, {}, {}};
        for (std::size_t axis = 0; axis < rank; ++axis) {
          box.begin.push_back(values[axis][choice[axis]].begin);
          box.end.push_back(values[axis][choice[axis]].end);
        }
        add_box(boxes, std::move(box));
        more = false;
        for (std::size_t axis = rank; axis-- > 0 && !more;) {
          more = ++choice[axis] < values[axis].size();
          if (!more) choice[axis] = 0;
        }
      }
    }
  }
  return boxes;
}

std::vector<BoxRef> cell_consumers(const Trace& trace, TensorName tensor, const std::vector<Index>& index) {
  kept_tensor(trace, tensor, tensor).shape().offset(index);  // throws if the index is out of range
  const TensorName source = first_name(trace, tensor);
  std::vector<BoxRef> consumers;
  const auto add_cells_of = [&](const Rule& rule) {
    for (BoxRef& box : cells_made_from(rule, source, index)) add_box(consumers, std::move(box));
  };
  for (const TensorEntry& entry : tensor_entries()) {
    if (!tensor.gradient && trace.tensor(entry.id)) add_cells_of(declared_rule(trace, {entry.id}));
  }
  for (const Rule& rule : gradient_rules(trace)) add_cells_of(rule);
  return consumers;
}

}  // namespace headwise
