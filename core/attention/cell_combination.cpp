#include "core/attention/cell_provenance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/attention/cell_terms.h"
#include "core/attention/output_gate.h"
#include "core/attention/rules.h"
#include "core/attention/score_scale.h"
#include "core/attention/softmax.h"

namespace headwise {

double product_of_factors(const Trace& trace, const Term& term) {
  double product = 1.0;
  for (const CellRef& factor : term.factors) product *= trace.tensor(factor.tensor)->at(factor.index);
  return product;
}

std::vector<double> products_of(const Trace& trace, std::span<const Term> terms) {
  std::vector<double> row;
  row.reserve(terms.size());
  for (const Term& term : terms) row.push_back(product_of_factors(trace, term));
  return row;
}

std::size_t own_term(const CellProvenance& provenance) {
  const auto is_own = [&](const Term& term) { return term.factors[0].index == provenance.cell.index; };
  return static_cast<std::size_t>(std::ranges::find_if(provenance.terms, is_own) - provenance.terms.begin());
}

std::optional<double> quantity(const CellProvenance& provenance, std::string_view name) {
  for (const auto& [quantity_name, value] : provenance.quantities) {
    if (quantity_name == name) return value;
  }
  return std::nullopt;
}

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

struct SoftmaxRow {
  double maximum = minus_infinity;
  double sum_exp = 0.0;  // Σ exp(x − maximum)

  explicit SoftmaxRow(const std::vector<double>& row) {
    for (const double x : row) maximum = std::max(maximum, x);
    for (const double x : row) sum_exp += std::exp(x - maximum);
  }
};

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Whether the last term of a softmax is the sink, and not a score of the row.
bool ends_with_sink(const CellProvenance& provenance) {
  return !provenance.terms.empty() && provenance.terms.back().factors[0].tensor.id == TensorId::sinks;
}

// The two numbers at the cell's own position in the row of a gradient: the incoming gradient (dP, dy) and the
// function's result there (P, y).
struct OwnPair {
  double gradient, result;

  OwnPair(const Trace& trace, const CellProvenance& provenance) {
    const std::vector<CellRef>& factors = provenance.terms.at(own_term(provenance)).factors;
    gradient = trace.tensor(factors[0].tensor)->at(factors[0].index);
    result = trace.tensor(factors[1].tensor)->at(factors[1].index);
  }
};

// The row of scaled scores with every mask but the indexer's, and the sink behind them.
std::vector<double> full_row(const Trace& trace, const CellProvenance& provenance) {
  std::vector<double> row;
  const std::vector<Product> masks = mask_products(trace);
  for (const Term& term : provenance.terms) {
    const CellRef& source = term.factors.front();
    if (source.tensor.id == TensorId::sinks) row.push_back(product_of_factors(trace, term));
    if (source.tensor.id != TensorId::scaled_scores) continue;
    double bias = 0.0;
    for (const Product& mask : masks)
      if (mask.reading != MaskReading::not_chosen && holds_at(mask, source.index))
        bias += mask_addend(trace, mask, source.index);
    const std::optional<double>& fill = trace.options.mask_value;
    row.push_back(fill && bias == minus_infinity ? *fill : product_of_factors(trace, term) + bias);
  }
  return row;
}

double softmax_of(const Trace& trace, const std::vector<double>& row, std::size_t own) {
  const bool all_blocked = std::ranges::all_of(row, [](double x) { return x == minus_infinity; });
  if (all_blocked && trace.options.fully_masked_rows == FullyMaskedRows::zero) return 0.0;
  const SoftmaxRow statistics(row);
  return std::exp(row.at(own) - statistics.maximum) / statistics.sum_exp;
}

double recompute_softmax(const Trace& trace, const CellProvenance& provenance) {
  return softmax_of(trace, products_of(trace, provenance.terms), own_term(provenance));
}

double recompute_log_sum_exp(const Trace& trace, const CellProvenance& provenance) {
  const std::vector<double> row = products_of(trace, provenance.terms);
  if (std::ranges::any_of(row, [](double x) { return std::isnan(x); })) return std::nan("");
  const SoftmaxRow statistics(row);
  return std::isinf(statistics.maximum) ? statistics.maximum
                                        : statistics.maximum + std::log(statistics.sum_exp);
}

double recompute_softmax_gradient(const Trace& trace, const CellProvenance& provenance) {
  const OwnPair own(trace, provenance);
  return own.result * (own.gradient - sum_of(products_of(trace, provenance.terms)));
}

// The gate's number is the last factor of each term, the same in all of them.
double value_of_gate(const Trace& trace, const CellProvenance& provenance) {
  const CellRef& gate = provenance.terms.at(0).factors.back();
  return sigmoid(trace.tensor(gate.tensor)->at(gate.index));
}

// Of a term, whose last factor is the gate's number.
double gated_product(const Trace& trace, const Term& term, Combine combine) {
  Term others = term;
  others.factors.pop_back();
  const CellRef& gate = term.factors.back();
  const double open = sigmoid(trace.tensor(gate.tensor)->at(gate.index));
  return product_of_factors(trace, others) * open * (combine == Combine::gate ? 1.0 : 1.0 - open);
}

}  // namespace

void add_quantities(const Trace& trace, CellProvenance& provenance) {
  const AttentionOptions& o = trace.options;
  auto& quantities = provenance.quantities;
  switch (provenance.combine) {
    case Combine::rotation:
      add_rotation(trace, provenance);
      break;
    case Combine::clip:
    case Combine::clip_gradient:
      quantities.emplace_back("clip", o.clip_qkv.value_or(0.0));
      break;
    case Combine::scale:
    case Combine::scale_gradient: {
      const ScoreScale scale = score_scale(o);
      for (const ScoreStep& step : scale.steps) quantities.emplace_back(step.option, step.number);
      if (provenance.terms.size() > 1)  // a gradient that depends on the score
        scale.each_slope(provenance.terms[1].value,
                         [&](const char* name, double slope) { quantities.emplace_back(name, slope); });
      break;
    }
    case Combine::add_mask:
    case Combine::add_mask_gradient:
      if (o.mask_value && provenance.terms.at(1).value == minus_infinity)
        quantities.emplace_back("fill", *o.mask_value);
      break;
    case Combine::log_sum_exp:
    case Combine::softmax: {
      const SoftmaxRow row(products_of(trace, provenance.terms));
      if (ends_with_sink(provenance)) quantities.emplace_back("sink", provenance.terms.back().value);
      for (Term& term : provenance.terms) term.value = std::exp(term.value - row.maximum);
      quantities.emplace_back("row maximum", row.maximum);
      if (provenance.combine == Combine::softmax)
        quantities.emplace_back("exp(x − max)", provenance.terms.at(own_term(provenance)).value);
      quantities.emplace_back("Σ exp", row.sum_exp);
      break;
    }
    case Combine::indexer_query:
      add_indexer_query(trace, provenance);
      break;
    case Combine::indexer_key:
      add_indexer_key(trace, provenance);
      break;
    case Combine::indexer_weight:
      for (Term& term : provenance.terms)
        term.value /= std::sqrt(static_cast<double>(o.indexer.value().heads));
      break;
    case Combine::indexer_score: {
      std::vector<Term> terms = provenance.terms;
      recompute_indexer_score(trace, provenance, &terms);
      provenance.terms = std::move(terms);
      break;
    }
    case Combine::full_softmax: {
      const std::vector<double> scores = full_row(trace, provenance);
      const SoftmaxRow row(scores);
      std::size_t next = 0;
      for (Term& term : provenance.terms) {
        const TensorId id = term.factors.front().tensor.id;
        if (id == TensorId::scaled_scores || id == TensorId::sinks)
          term.value = std::exp(scores[next++] - row.maximum);
      }
      quantities.emplace_back("row maximum", row.maximum);
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
    case Combine::norm:
    case Combine::norm_gradient:
      add_norm(trace, provenance, provenance.combine == Combine::norm_gradient);
      break;
    case Combine::softmax_gradient: {
      const OwnPair own(trace, provenance);
      quantities.emplace_back("P", own.result);
      quantities.emplace_back("dP", own.gradient);
      quantities.emplace_back("Σ dP·P", sum_of(products_of(trace, provenance.terms)));
      break;
    }
    case Combine::gate:
    case Combine::gate_gradient:
      if (provenance.terms.empty()) break;
      quantities.emplace_back("σ(gate)", value_of_gate(trace, provenance));
      for (Term& term : provenance.terms) term.value = gated_product(trace, term, provenance.combine);
      break;
    case Combine::sink_share:
    case Combine::sink_gradient:
    case Combine::norm_weight_gradient:
    case Combine::given:
    case Combine::copy:
    case Combine::product_sum:
    case Combine::merge_masks:
      break;
  }
}

double recompute_from_provenance(const Trace& trace, const CellProvenance& provenance) {
  const auto source = [&](std::size_t term) { return product_of_factors(trace, provenance.terms.at(term)); };
  switch (provenance.combine) {
    case Combine::given:
      return trace.tensor(provenance.cell.tensor)->at(provenance.cell.index);
    case Combine::copy:
      return source(0);
    case Combine::product_sum:
    case Combine::mean: {
      const double sum = sum_of(products_of(trace, provenance.terms));
      return provenance.combine == Combine::mean ? sum / quantity(provenance, "number of heads").value_or(1.0)
                                                 : sum;
    }
    case Combine::clip: {
      const double bound = quantity(provenance, "clip").value_or(0.0);
      return std::clamp(source(0), -bound, bound);
    }
    case Combine::clip_gradient:
      return std::abs(source(1)) <= quantity(provenance, "clip").value_or(0.0) ? source(0) : 0.0;
    case Combine::rotation:
      return recompute_rotation(trace, provenance);
    case Combine::scale:
      return score_scale(trace.options).scaled(source(0));
    case Combine::merge_masks: {
      double sum = 0.0;
      for (const Term& term : provenance.terms) sum += term.value;
      return sum;
    }
    case Combine::add_mask: {
      const auto fill = quantity(provenance, "fill");
      return fill ? *fill : source(0) + source(1);
    }
    case Combine::add_mask_gradient:
      return quantity(provenance, "fill") ? 0.0 : source(0);
    case Combine::softmax:
      return recompute_softmax(trace, provenance);
    case Combine::log_sum_exp:
      return recompute_log_sum_exp(trace, provenance);
    case Combine::indexer_query:
      return recompute_indexer_query(trace, provenance);
    case Combine::indexer_key:
      return recompute_indexer_key(trace, provenance);
    case Combine::indexer_weight:
      return sum_of(products_of(trace, provenance.terms)) /
             std::sqrt(static_cast<double>(trace.options.indexer.value().heads));
    case Combine::indexer_score:
      return recompute_indexer_score(trace, provenance, nullptr);
    case Combine::full_softmax:
      return softmax_of(trace, full_row(trace, provenance), static_cast<std::size_t>(provenance.cell.index[3]));
    case Combine::sink_share:
      return sink_share(source(0), source(1));
    case Combine::sink_gradient:
      return -sum_of(products_of(trace, provenance.terms));
    case Combine::dropout:
      return source(0) * quantity(provenance, "factor").value_or(1.0);
    case Combine::gate:
    case Combine::gate_gradient: {
      double sum = 0.0;
      for (const Term& term : provenance.terms) sum += gated_product(trace, term, provenance.combine);
      return sum;
    }
    case Combine::norm:
      return recompute_norm(trace, provenance);
    case Combine::scale_gradient:
      return score_scale(trace.options).gradient(source(0), provenance.terms.size() > 1 ? source(1) : 0.0);
    case Combine::softmax_gradient:
      return recompute_softmax_gradient(trace, provenance);
    case Combine::norm_gradient:
      return recompute_norm_gradient(trace, provenance);
    case Combine::norm_weight_gradient:
      return recompute_norm_weight_gradient(trace, provenance);
  }
  return provenance.value;
}

}  // namespace headwise
