// Cells that are rotated by their position, the indexer's among them.
#include <cmath>
#include <numeric>
#include <optional>

#include "core/attention/attention_sizes.h"
#include "core/attention/cell_terms.h"
#include "core/attention/indexer.h"
#include "core/attention/norm.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"

namespace headwise {
namespace {

// A column and its partner: forwards the first of them subtracts its partner and the second adds it;
// backwards it is the opposite.
double partner_sign(const CellProvenance& provenance) {
  const bool is_first =
      provenance.terms.at(1).factors[0].index.back() > provenance.terms.at(0).factors[0].index.back();
  return is_first == provenance.cell.tensor.gradient ? 1.0 : -1.0;
}

// The position and the angles of a cell whose rows begin at position `first`; nothing in a column that is not
// rotated.
struct Turn {
  double cosine = 1.0, sine = 0.0;  // of θ, times the factor
};
std::optional<Turn> add_turn(const Rotation& rotation, Index first, CellProvenance& provenance) {
  const std::vector<Index>& index = provenance.cell.index;
  const Index own = index.back() - rotation.first;
  if (own < 0 || own >= 2 * rotation.count()) return std::nullopt;
  const Index position = first + index[index.size() - 2], pair = rotation.pair_of(index.back());
  const double angle = rotation.angle(position, pair);
  auto& quantities = provenance.quantities;
  quantities.emplace_back("position", static_cast<double>(position));
  quantities.emplace_back("inverse frequency", rotation.inverse_frequencies[static_cast<std::size_t>(pair)]);
  quantities.emplace_back("θ", angle);
  quantities.emplace_back("cos θ", std::cos(angle));
  quantities.emplace_back("sin θ", std::sin(angle));
  if (rotation.factor != 1.0) quantities.emplace_back("factor", rotation.factor);
  return Turn{rotation.cosine(position, pair), rotation.sine(position, pair)};
}

// The first position of queries, or of keys.
Index first_position(const Trace& trace, bool of_queries) {
  const AttentionSizes sizes = attention_sizes(trace.options, trace.tensors);
  return of_queries ? rotary_first_query(trace.options, sizes.queries, sizes.keys)
                    : rotary_first_key(trace.options);
}

void add_indexer_rotation(const Trace& trace, CellProvenance& provenance) {
  const Rotation rotation = indexer_rotation(trace.options);
  const bool of_queries = provenance.cell.tensor.id == TensorId::indexer_q;
  if (!rotation || !add_turn(rotation, first_position(trace, of_queries), provenance)) return;
  const Index own = provenance.cell.index.back(), begin = rotation.pair_of(own) * rotation.step();
  provenance.quantities.emplace_back("partner column",
                                     static_cast<double>(own == begin ? begin + rotation.apart() : begin));
}

// factor·(own·cos θ ∓ partner·sin θ), or `own` in a column that is not rotated.
double rotated_pair(const CellProvenance& provenance, double own, double partner) {
  const std::optional<double> column = quantity(provenance, "partner column");
  if (!column) return own;
  const double sign = *column > static_cast<double>(provenance.cell.index.back()) ? -1.0 : 1.0;
  return quantity(provenance, "factor").value_or(1.0) *
         (own * *quantity(provenance, "cos θ") + sign * partner * *quantity(provenance, "sin θ"));
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

}  // namespace

void add_rotation(const Trace& trace, CellProvenance& provenance) {
  const TensorId id = provenance.cell.tensor.id;
  const bool of_queries = id == TensorId::q_rotary || id == made_of(TensorId::q_rotary, trace.options);
  Rotation rotation = rotation_of(trace.options);
  if (id == TensorId::k_rot) rotation.first = 0;
  if (id == TensorId::kv_a) rotation.first = trace.options.kv_lora_rank.value_or(0);
  const Turn turn = add_turn(rotation, first_position(trace, of_queries), provenance).value_or(Turn{});
  provenance.terms.at(0).value *= turn.cosine;
  provenance.terms.at(1).value *= partner_sign(provenance) * turn.sine;
}

double recompute_rotation(const Trace& trace, const CellProvenance& provenance) {
  const double own = product_of_factors(trace, provenance.terms.at(0));
  const double partner = product_of_factors(trace, provenance.terms.at(1));
  return quantity(provenance, "factor").value_or(1.0) *
         (own * quantity(provenance, "cos θ").value_or(1.0) +
          partner_sign(provenance) * partner * quantity(provenance, "sin θ").value_or(0.0));
}

void add_indexer_query(const Trace& trace, CellProvenance& provenance) {
  add_indexer_rotation(trace, provenance);
  const auto half = provenance.terms.size() / 2;
  for (std::size_t i = 0; i < provenance.terms.size(); ++i)
    provenance.terms[i].value *=
        i < half ? rotated_pair(provenance, 1.0, 0.0) : rotated_pair(provenance, 0.0, 1.0);
}

void add_indexer_key(const Trace& trace, CellProvenance& provenance) {
  add_indexer_rotation(trace, provenance);
  const IndexerKeyRow row(trace, provenance);
  provenance.quantities.emplace_back("mean", row.norm.mean);
  provenance.quantities.emplace_back(deviation_name(NormKind::layer), row.norm.deviation);
  provenance.quantities.emplace_back("ε", indexer_norm.epsilon);
}

// The first half of the terms is the cell's own product, the second half its partner's.
double recompute_indexer_query(const Trace& trace, const CellProvenance& provenance) {
  const std::vector<double> products = products_of(trace, provenance.terms);
  const auto half = products.begin() + std::ssize(products) / 2;
  return rotated_pair(provenance, std::accumulate(products.begin(), half, 0.0),
                      std::accumulate(half, products.end(), 0.0));
}

double recompute_indexer_key(const Trace& trace, const CellProvenance& provenance) {
  const IndexerKeyRow row(trace, provenance);
  const auto partner = quantity(provenance, "partner column");
  return rotated_pair(provenance, row.column(provenance.cell.index.back()),
                      partner ? row.column(static_cast<Index>(*partner)) : 0.0);
}

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

}  // namespace headwise
