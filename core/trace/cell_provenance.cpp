#include "core/trace/cell_provenance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/add_and_norm.h"
#include "core/attention/dropout.h"
#include "core/tensor/error.h"
#include "core/trace/cell_formula.h"
#include "core/trace/mask_rule.h"

namespace headwise {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

const Tensor& kept_tensor(const Trace& trace, TensorName name, TensorName asked_for) {
  const TensorPtr tensor = trace.tensor(name);
  if (tensor) return *tensor;  // the trace keeps it alive
  throw Error(ExitStatus::usage,
              {to_string(asked_for), "this trace does not keep a tensor that the cell is made from",
               "no " + to_string(name), "a trace of the reference backend", ""});
}

// The product of the factors' numbers, as they stand in the trace.
double product_of_factors(const Trace& trace, const Term& term) {
  double product = 1.0;
  for (const CellRef& factor : term.factors) product *= trace.tensor(factor.tensor)->at(factor.index);
  return product;
}

// Appends the terms of one product: one for each combination of the summed indices, the last one running
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

struct SoftmaxRow {
  double maximum = minus_infinity;
  double sum_exp = 0.0;  // Σ exp(x − maximum)

  explicit SoftmaxRow(const std::vector<double>& row) {
    for (const double x : row) maximum = std::max(maximum, x);
    for (const double x : row) sum_exp += std::exp(x - maximum);
  }
};

struct NormalRow {
  double mean = 0.0;
  double variance = 0.0;  // divided by the row's length

  explicit NormalRow(const std::vector<double>& row) {
    const auto length = static_cast<double>(row.size());
    for (const double x : row) mean += x / length;
    for (const double x : row) variance += (x - mean) * (x - mean) / length;
  }
};

std::vector<double> source_row(const Trace& trace, const CellProvenance& provenance) {
  std::vector<double> row;
  row.reserve(provenance.terms.size());
  for (const Term& term : provenance.terms) row.push_back(product_of_factors(trace, term));
  return row;
}

// Along a row: which term is the source at the cell's own place.
std::size_t own_term(const CellProvenance& provenance) {
  const auto is_own = [&](const Term& term) { return term.factors[0].index == provenance.cell.index; };
  return static_cast<std::size_t>(std::ranges::find_if(provenance.terms, is_own) - provenance.terms.begin());
}

double score_scale(const AttentionOptions& options) {
  return options.scale.value_or(1.0 / std::sqrt(static_cast<double>(options.head_dim)));
}

// The constants that a cell is made with besides its sources, and what a row comes to.
void add_quantities(const Trace& trace, CellProvenance& provenance) {
  const AttentionOptions& o = trace.options;
  auto& quantities = provenance.quantities;
  switch (provenance.combine) {
    case Combine::scale:
      quantities.emplace_back("scale", score_scale(o));
      if (o.temperature != 1.0) quantities.emplace_back("temperature", o.temperature);
      if (o.softcap > 0.0) quantities.emplace_back("softcap", o.softcap);
      break;
    case Combine::add_mask:
      if (o.mask_value && provenance.terms[1].value == minus_infinity)
        quantities.emplace_back("fill", *o.mask_value);
      break;
    case Combine::softmax: {
      const SoftmaxRow row(source_row(trace, provenance));
      for (Term& term : provenance.terms) term.value = std::exp(term.value - row.maximum);
      quantities.emplace_back("row maximum", row.maximum);
      quantities.emplace_back("exp(x − max)", provenance.terms.at(own_term(provenance)).value);
      quantities.emplace_back("Σ exp", row.sum_exp);
      break;
    }
    case Combine::dropout: {
      const Index flat = trace.tensor(provenance.cell.tensor)->shape().offset(provenance.cell.index);
      quantities.emplace_back("p", o.dropout);
      quantities.emplace_back("factor", dropout_factor(o.dropout, o.dropout_seed, flat));
      break;
    }
    case Combine::mean:
      quantities.emplace_back("number of heads", static_cast<double>(provenance.terms.size()));
      break;
    case Combine::layer_norm: {
      const NormalRow row(source_row(trace, provenance));
      quantities.emplace_back("mean", row.mean);
      quantities.emplace_back("variance", row.variance);
      quantities.emplace_back("ε", layer_norm_epsilon);
      break;
    }
    case Combine::given:
    case Combine::copy:
    case Combine::product_sum:
    case Combine::merge_masks:
      break;
  }
}

double recompute_scale(const CellProvenance& provenance, double score) {
  const double x =
      score * quantity(provenance, "scale").value_or(1.0) / quantity(provenance, "temperature").value_or(1.0);
  const auto softcap = quantity(provenance, "softcap");
  return softcap ? *softcap * std::tanh(x / *softcap) : x;
}

double recompute_softmax(const Trace& trace, const CellProvenance& provenance) {
  const std::vector<double> row = source_row(trace, provenance);
  const bool all_blocked = std::ranges::all_of(row, [](double x) { return x == minus_infinity; });
  if (all_blocked && trace.options.fully_masked_rows == FullyMaskedRows::zero) return 0.0;
  const SoftmaxRow statistics(row);
  const double own = row.at(own_term(provenance));
  return std::exp(own - statistics.maximum) / statistics.sum_exp;
}

double recompute_layer_norm(const Trace& trace, const CellProvenance& provenance) {
  const std::vector<double> row = source_row(trace, provenance);
  const NormalRow statistics(row);
  const double own = row.at(own_term(provenance));
  return (own - statistics.mean) / std::sqrt(statistics.variance + quantity(provenance, "ε").value_or(0.0));
}

}  // namespace

std::optional<double> quantity(const CellProvenance& provenance, std::string_view name) {
  for (const auto& [quantity_name, value] : provenance.quantities) {
    if (quantity_name == name) return value;
  }
  return std::nullopt;
}

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
    append_terms(trace, rule, product, index, provenance.terms);
    add_sources(product, index, provenance.sources);
    const bool is_one_cell = product.factors.size() == 1 && product.sums.empty();
    if (rule.combine == Combine::product_sum && is_one_cell) provenance.combine = Combine::copy;
  }
  if (rule.combine == Combine::product_sum && holding != 1) provenance.combine = Combine::product_sum;
  add_quantities(trace, provenance);
  provenance.formula = cell_formula(trace, rule, provenance);
  provenance.note = cell_note(trace, provenance);
  return provenance;
}

double recompute_from_provenance(const Trace& trace, const CellProvenance& provenance) {
  const auto source = [&](std::size_t term) { return product_of_factors(trace, provenance.terms[term]); };
  switch (provenance.combine) {
    case Combine::given:
      return trace.tensor(provenance.cell.tensor)->at(provenance.cell.index);
    case Combine::copy:
      return source(0);
    case Combine::product_sum:
    case Combine::mean: {
      double sum = 0.0;
      for (const Term& term : provenance.terms) sum += product_of_factors(trace, term);
      return provenance.combine == Combine::mean ? sum / quantity(provenance, "number of heads").value_or(1.0)
                                                 : sum;
    }
    case Combine::scale:
      return recompute_scale(provenance, source(0));
    case Combine::merge_masks: {
      double sum = 0.0;
      for (const Term& term : provenance.terms) sum += term.value;
      return sum;
    }
    case Combine::add_mask: {
      const auto fill = quantity(provenance, "fill");
      return fill ? *fill : source(0) + source(1);
    }
    case Combine::softmax:
      return recompute_softmax(trace, provenance);
    case Combine::dropout:
      return source(0) * quantity(provenance, "factor").value_or(1.0);
    case Combine::layer_norm:
      return recompute_layer_norm(trace, provenance);
  }
  return provenance.value;
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
      // One box for each combination of the intervals of the result's axes; nearly always there is one.
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
  kept_tensor(trace, tensor, tensor).shape().offset(index);  // throws where the index is outside
  const TensorName source = first_name(trace, tensor);
  std::vector<BoxRef> consumers;
  for (const TensorEntry& entry : tensor_entries()) {
    if (!trace.tensor(entry.id)) continue;
    for (BoxRef& box : cells_made_from(declared_rule(trace, {entry.id}), source, index)) {
      add_box(consumers, std::move(box));
    }
  }
  return consumers;
}

}  // namespace headwise
