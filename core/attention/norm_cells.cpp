#include <vector>

#include "core/attention/cell_terms.h"
#include "core/attention/norm.h"
#include "core/attention/tensor_names.h"

namespace headwise {
namespace {

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

}  // namespace

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

}  // namespace headwise
