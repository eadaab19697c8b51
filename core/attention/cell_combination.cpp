#include "core/attention/cell_provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/attention/attention_sizes.h"
#include "core/attention/indexer.h"
#include "core/attention/norm.h"
#include "core/attention/output_gate.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/attention/softmax.h"

namespace headwise {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// The product of the factors' numbers, as stored in the trace.
double product_of_factors(const Trace& trace, const Term& term) {
  double product = 1.0;
  for (const CellRef& factor : term.factors) product *= trace.tensor(factor.tensor)->at(factor.index);
  return product;
}

struct SoftmaxRow {
  double maximum = minus_infinity;
  double sum_exp = 0.0;  // Σ exp(x − maximum)

  explicit SoftmaxRow(const std::vector<double>& row) {
    for (const double x : row) maximum = std::max(maximum, x);
    for (const double x : row) sum_exp += std::exp(x - maximum);
  }
};

std::vector<double> products_of(const Trace& trace, std::span<const Term> terms) {
  std::vector<double> row;
  row.reserve(terms.size());
  for (const Term& term : terms) row.push_back(product_of_factors(trace, term));
  return row;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// In a row: the index of the term whose source is at the cell's own position.
std::size_t own_term(const CellProvenance& provenance) {
  const auto is_own = [&](const Term& term) { return term.factors[0].index == provenance.cell.index; };
  return static_cast<std::size_t>(std::ranges::find_if(provenance.terms, is_own) - provenance.terms.begin());
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

// A row that is normalised, or its gradient: term e has x[e], or dy[e], x[e] and, if there is one, the
// weight.
struct NormedRow {
  NormedRow(const Trace& trace, const CellProvenance& provenance, bool backwards)
      : norm(norm_of(trace.options, provenance.cell.tensor.id)) {
    std::vector<double> numbers, gradients;
    const auto value = [&](const CellRef& cell) { return trace.tensor(cell.tensor)->at(cell.index); };
    for (const Term& term : provenance.terms) {
      const std::vector<CellRef>& factors = term.factors;
      const TensorRole role = tensor_entry(factors[0].tensor.id).role;
      if (!backwards && role == TensorRole::parameter) {
        gain = norm.offset + value(factors[0]);
        continue;
      }
      numbers.push_back(value(factors[backwards ? 1 : 0]));
      const double weight = factors.size() > 2 ? norm.offset + value(factors[2]) : 1.0;
      if (backwards) gradients.push_back(weight * value(factors[0]));
    }
    x = Eigen::Map<const WideRow>(numbers.data(), static_cast<Index>(numbers.size()));
    dx = Eigen::Map<const WideRow>(gradients.data(), static_cast<Index>(gradients.size()));
    own = static_cast<Index>(own_term(provenance));
    const RowNorm row = row_norm(x, norm);
    mean = row.mean;
    deviation = row.deviation;
  }
  double normed(Index at) const { return (x[at] - mean) / deviation; }
  double mean_gradient() const { return norm.kind == NormKind::layer ? dx.mean() : 0.0; }
  // Mean of dn·n; for l2 the sum.
  double along() const {
    const WideRow product = dx * (x - mean) / deviation;
    return norm.kind == NormKind::l2 ? product.sum() : product.mean();
  }

  Norm norm;
  WideRow x, dx;  // dx: of n
  Index own = 0;
  double gain = 1.0, mean = 0.0, deviation = 1.0;
};

void add_norm(const Trace& trace, CellProvenance& provenance, bool backwards) {
  const NormedRow row(trace, provenance, backwards);
  auto& quantities = provenance.quantities;
  if (row.norm.kind == NormKind::layer) quantities.emplace_back("mean", row.mean);
  quantities.emplace_back(deviation_name(row.norm.kind), row.deviation);
  quantities.emplace_back("ε", row.norm.epsilon);
  if (row.norm.offset != 0.0) quantities.emplace_back("offset", row.norm.offset);
  if (!backwards) return;
  if (row.norm.kind == NormKind::layer) quantities.emplace_back("mean dn", row.mean_gradient());
  quantities.emplace_back(row.norm.kind == NormKind::l2 ? "Σ dn·n" : "mean dn·n", row.along());
}

double recompute_norm(const Trace& trace, const CellProvenance& provenance) {
  const NormedRow row(trace, provenance, false);
  return row.gain * row.normed(row.own);
}

double recompute_norm_gradient(const Trace& trace, const CellProvenance& provenance) {
  const NormedRow row(trace, provenance, true);
  return (row.dx[row.own] - row.mean_gradient() - row.normed(row.own) * row.along()) / row.deviation;
}

double recompute_norm_weight_gradient(const Trace& trace, const CellProvenance& provenance) {
  const Norm norm = norm_of(trace.options, provenance.cell.tensor.id);
  double sum = 0.0;
  for (const Term& term : provenance.terms) {
    const CellRef &dy = term.factors.at(0), &x = term.factors.at(1);
    const Tensor& rows = *trace.tensor(x.tensor);
    const Index width = rows.shape().sizes().back();
    const Index row = rows.shape().offset(x.index) / width;
    WideRow numbers = rows.dtype() == DType::f32 ? wide_row<float>(rows, row) : wide_row<double>(rows, row);
    if (x.tensor.id == TensorId::kv_a) numbers.conservativeResize(trace.options.kv_lora_rank.value_or(0));
    const auto [mean, deviation] = row_norm(numbers, norm);
    sum += trace.tensor(dy.tensor)->at(dy.index) * (rows.at(x.index) - mean) / deviation;
  }
  return sum;
}

// A column and its partner: forwards the first of them subtracts its partner and the second adds it;
// backwards it is the opposite.
double partner_sign(const CellProvenance& provenance) {
  const bool is_first =
      provenance.terms.at(1).factors[0].index.back() > provenance.terms.at(0).factors[0].index.back();
  return is_first == provenance.cell.tensor.gradient ? 1.0 : -1.0;
}

void add_rotation(const Trace& trace, CellProvenance& provenance) {
  const AttentionSizes sizes = attention_sizes(trace.options, trace.tensors);
  const TensorId id = provenance.cell.tensor.id;
  const bool of_queries = id == TensorId::q_rotary || id == made_of(TensorId::q_rotary, trace.options);
  const Index first = of_queries ? rotary_first_query(trace.options, sizes.queries, sizes.keys)
                                 : rotary_first_key(trace.options);
  Rotation rotation = rotation_of(trace.options);
  if (id == TensorId::k_rot) rotation.first = 0;
  if (id == TensorId::kv_a) rotation.first = trace.options.kv_lora_rank.value_or(0);
  const std::vector<Index>& index = provenance.cell.index;
  const Index position = first + index[index.size() - 2], pair = rotation.pair_of(index.back());
  const double angle = rotation.angle(position, pair);
  provenance.quantities.emplace_back("position", static_cast<double>(position));
  provenance.quantities.emplace_back("inverse frequency",
                                     rotation.inverse_frequencies[static_cast<std::size_t>(pair)]);
  provenance.quantities.emplace_back("θ", angle);
  provenance.quantities.emplace_back("cos θ", std::cos(angle));
  provenance.quantities.emplace_back("sin θ", std::sin(angle));
  if (rotation.factor != 1.0) provenance.quantities.emplace_back("factor", rotation.factor);
  provenance.terms.at(0).value *= rotation.factor * std::cos(angle);
  provenance.terms.at(1).value *= partner_sign(provenance) * rotation.factor * std::sin(angle);
}

double recompute_rotation(const Trace& trace, const CellProvenance& provenance) {
  const double own = product_of_factors(trace, provenance.terms.at(0));
  const double partner = product_of_factors(trace, provenance.terms.at(1));
  return quantity(provenance, "factor").value_or(1.0) *
         (own * quantity(provenance, "cos θ").value_or(1.0) +
          partner_sign(provenance) * partner * quantity(provenance, "sin θ").value_or(0.0));
}

// The position and the angles of a cell (n,m,t,d) of indexer_q or indexer_k; nothing in a column that is not
// rotated.
void add_indexer_rotation(const Trace& trace, CellProvenance& provenance) {
  const Rotation rotation = indexer_rotation(trace.options);
  const std::vector<Index>& cell = provenance.cell.index;
  const Index own = cell[3];
  if (own >= 2 * rotation.count()) return;
  const AttentionSizes sizes = attention_sizes(trace.options, trace.tensors);
  const Index first = provenance.cell.tensor.id == TensorId::indexer_q
                          ? rotary_first_query(trace.options, sizes.queries, sizes.keys)
                          : rotary_first_key(trace.options);
  const Index position = first + cell[2], pair = rotation.pair_of(own);
  const Index begin = pair * rotation.step();
  const double angle = rotation.angle(position, pair);
  auto& quantities = provenance.quantities;
  quantities.emplace_back("position", static_cast<double>(position));
  quantities.emplace_back("inverse frequency", rotation.inverse_frequencies[static_cast<std::size_t>(pair)]);
  quantities.emplace_back("θ", angle);
  quantities.emplace_back("cos θ", std::cos(angle));
  quantities.emplace_back("sin θ", std::sin(angle));
  quantities.emplace_back("partner column",
                          static_cast<double>(own == begin ? begin + rotation.apart() : begin));
  if (rotation.factor != 1.0) quantities.emplace_back("factor", rotation.factor);
}

// factor·(own·cos θ ∓ partner·sin θ), or `own` in a column that is not rotated.
double rotated_pair(const CellProvenance& provenance, double own, double partner) {
  const std::optional<double> column = quantity(provenance, "partner column");
  if (!column) return own;
  const double sign = *column > static_cast<double>(provenance.cell.index.back()) ? -1.0 : 1.0;
  return quantity(provenance, "factor").value_or(1.0) *
         (own * *quantity(provenance, "cos θ") + sign * partner * *quantity(provenance, "sin θ"));
}

// The first half of the terms is the cell's own product, the second half its partner's.
double recompute_indexer_query(const Trace& trace, const CellProvenance& provenance) {
  const std::vector<double> products = products_of(trace, provenance.terms);
  const auto half = products.begin() + std::ssize(products) / 2;
  return rotated_pair(provenance, std::accumulate(products.begin(), half, 0.0),
                      std::accumulate(half, products.end(), 0.0));
}

// Terms of two factors are those of key·Wᵀ, one column behind the other; single ones are weights and biases.
struct IndexerKeyRow {
  IndexerKeyRow(const Trace& trace, const CellProvenance& provenance) : of(trace), cell(provenance) {
    x = WideRow::Zero(of.options.indexer.value().width);
    for (const Term& term : cell.terms)
      if (term.factors.size() == 2) x[term.factors[1].index[0]] += product_of_factors(of, term);
    norm = row_norm(x, indexer_norm);
  }
  double column(Index d) const {
    double weight = 1.0, bias = 0.0;
    for (const Term& term : cell.terms) {
      const CellRef& factor = term.factors.front();
      if (term.factors.size() != 1 || factor.index[0] != d) continue;
      (factor.tensor.id == TensorId::indexer_k_norm_weight ? weight : bias) = product_of_factors(of, term);
    }
    return weight * (x[d] - norm.mean) / norm.deviation + bias;
  }
  const Trace& of;
  const CellProvenance& cell;
  WideRow x;
  RowNorm norm{};
};

double recompute_indexer_key(const Trace& trace, const CellProvenance& provenance) {
  const IndexerKeyRow row(trace, provenance);
  const auto partner = quantity(provenance, "partner column");
  return rotated_pair(provenance, row.column(provenance.cell.index.back()),
                      partner ? row.column(static_cast<Index>(*partner)) : 0.0);
}

// The terms of one head of the indexer are adjacent: q·k·w of each column. Where their sum is below 0, ReLU
// makes it 0.
double recompute_indexer_score(const Trace& trace, const CellProvenance& provenance, std::vector<Term>* values) {
  const Indexer indexer = trace.options.indexer.value();
  const double scale = 1.0 / std::sqrt(static_cast<double>(indexer.width));
  double score = 0.0;
  for (std::size_t first = 0; first < provenance.terms.size();
       first += static_cast<std::size_t>(indexer.width)) {
    double product = 0.0;
    const auto each = [&](auto&& f) {
      for (std::size_t i = first; i < first + static_cast<std::size_t>(indexer.width); ++i) f(i);
    };
    const auto number = [&](std::size_t i, std::size_t factor) {
      const CellRef& cell = provenance.terms[i].factors[factor];
      return trace.tensor(cell.tensor)->at(cell.index);
    };
    each([&](std::size_t i) { product += scale * number(i, 0) * number(i, 1); });
    if (!(product < 0.0)) score += number(first, 2) * product;
    if (values) each([&](std::size_t i) { (*values)[i].value *= product < 0.0 ? 0.0 : scale; });
  }
  return score;
}

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

std::optional<double> quantity(const CellProvenance& provenance, std::string_view name) {
  for (const auto& [quantity_name, value] : provenance.quantities) {
    if (quantity_name == name) return value;
  }
  return std::nullopt;
}

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
    case Combine::indexer_query: {
      add_indexer_rotation(trace, provenance);
      const auto half = provenance.terms.size() / 2;
      for (std::size_t i = 0; i < provenance.terms.size(); ++i)
        provenance.terms[i].value *=
            i < half ? rotated_pair(provenance, 1.0, 0.0) : rotated_pair(provenance, 0.0, 1.0);
      break;
    }
    case Combine::indexer_key: {
      add_indexer_rotation(trace, provenance);
      const IndexerKeyRow row(trace, provenance);
      quantities.emplace_back("mean", row.norm.mean);
      quantities.emplace_back(deviation_name(NormKind::layer), row.norm.deviation);
      quantities.emplace_back("ε", indexer_norm.epsilon);
      break;
    }
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
