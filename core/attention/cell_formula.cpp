#include "core/attention/cell_provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/attention/norm.h"
#include "core/attention/rules.h"
#include "core/attention/score_scale.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Id = TensorId;

// A summed letter as shown in a product: "d" from 0 on, or "h" from 2 to 3 if every factor reads 2 + h.
struct ShownSum {
  SummedAxis axis;
  Index shift = 0;
};

// The index on one axis: what the cell determines is a number, what is summed keeps its letter: "8", "d",
// "2·r + 4".
std::string axis_text(const AxisMap& map, std::span<const Index> index, const std::vector<ShownSum>& sums) {
  std::vector<std::string> parts;
  AxisMap fixed{map.offset, {}};
  for (const AxisTerm& term : map.terms) {
    const auto variable = static_cast<std::size_t>(term.variable);
    if (variable < index.size()) {
      fixed.terms.push_back(term);
      continue;
    }
    const ShownSum& sum = sums[variable - index.size()];
    std::string text = sum.axis.letter;
    if (term.divide != 1) text = fmt::format("({} // {})", text, term.divide);
    if (term.modulus != 0) text = fmt::format("({} % {})", text, term.modulus);
    parts.push_back(term.times == 1 ? text : fmt::format("{}·{}", term.times, text));
    fixed.offset -= sum.shift;
  }
  const Index number = mapped_index(fixed, index);
  if (number != 0 || parts.empty()) parts.push_back(fmt::format("{}", number));
  return join(parts, " + ");
}

// What every factor adds to a summed index, if all add the same; 0 if they differ, or if an index is more
// than the letter and a number.
Index common_shift(const Product& product, std::span<const Index> index, std::size_t sum) {
  const auto variable = static_cast<int>(index.size() + sum);
  std::optional<Index> common;
  for (const Operand& factor : product.factors) {
    for (const AxisMap& map : factor.axes) {
      const auto is_letter = [&](const AxisTerm& term) { return term.variable == variable; };
      const auto found = std::ranges::find_if(map.terms, is_letter);
      if (found == map.terms.end()) continue;
      AxisMap fixed = map;
      std::erase_if(fixed.terms, is_letter);
      const bool plain = *found == AxisTerm{.variable = variable} &&
                         std::ranges::all_of(fixed.terms, [&](const AxisTerm& t) {
                           return static_cast<std::size_t>(t.variable) < index.size();
                         });
      if (!plain) return 0;
      const Index shift = mapped_index(fixed, index);
      if (common && *common != shift) return 0;
      common = shift;
    }
  }
  return common.value_or(0);
}

std::vector<ShownSum> shown_sums(const Product& product, std::span<const Index> index) {
  std::vector<ShownSum> sums;
  for (std::size_t sum = 0; sum < product.sums.size(); ++sum) {
    sums.push_back({product.sums[sum], common_shift(product, index, sum)});
  }
  return sums;
}

std::string factors_text(const Product& product, std::span<const Index> index) {
  const std::vector<ShownSum> sums = shown_sums(product, index);
  std::vector<std::string> factors;
  for (const Operand& factor : product.factors) {
    std::vector<std::string> axes;
    for (const AxisMap& map : factor.axes) axes.push_back(axis_text(map, index, sums));
    factors.push_back(fmt::format("{}[{}]", to_string(factor.tensor), join(axes, ",")));
  }
  return join(factors, " · ");
}

std::string signed_text(Index number) {
  return number < 0 ? fmt::format("−{}", -number) : fmt::format("{}", number);
}

// "Σ_d ", "Σ_{n,l} ", "Σ_{h=2…3,l} ", or empty.
std::string sum_sign(const Product& product, std::span<const Index> index) {
  std::vector<std::string> letters;
  bool plain = true;
  for (const auto& [axis, shift] : shown_sums(product, index)) {
    plain = plain && shift == 0;
    letters.push_back(shift == 0 ? axis.letter
                                 : fmt::format("{}={}…{}", axis.letter, shift, shift + axis.size - 1));
  }
  if (letters.empty()) return {};
  if (const auto& band = product.band) {  // "Σ_{l,s: −3 ≤ s − l ≤ −2} "
    const std::vector<ShownSum> sums = shown_sums(product, index);
    letters.back() += fmt::format(": {} ≤ {} − {} ≤ {}", signed_text(band->ahead.begin),
                                  axis_text(band->column, index, sums), axis_text(band->row, index, sums),
                                  signed_text(band->ahead.end - 1));
    plain = false;
  }
  return plain && letters.size() == 1 ? fmt::format("Σ_{} ", letters[0])
                                      : fmt::format("Σ_{{{}}} ", join(letters, ","));
}

std::string cell_text(const CellRef& cell) {
  return fmt::format("{}[{}]", to_string(cell.tensor), join(cell.index, ","));
}

std::string joined_products(const Trace& trace, const Rule& rule, std::span<const Index> index) {
  std::vector<std::string> products;
  for (const Product& product : rule.products) {
    if (!holds_at(product, index)) continue;
    const std::string factors = factors_text(product, index);
    products.push_back(rule.combine == Combine::merge_masks
                           ? mask_contribution_text(trace, product, index, factors)
                           : sum_sign(product, index) + factors);
  }
  return products.empty() ? "0" : join(products, " + ");
}

// "q_heads[0,0,8,1] · cos θ − q_heads[0,0,8,9] · sin θ, θ = 8 · 0.1"; "1.2 · (…), θ = 8 · 0.1" with a factor
std::string rotation_text(const CellProvenance& provenance, const std::string& own,
                          const std::string& partner, bool is_first) {
  std::string sum = fmt::format("{} · cos θ {} {} · sin θ", own,
                                is_first == provenance.cell.tensor.gradient ? "+" : "−", partner);
  if (const auto factor = quantity(provenance, "factor"))
    sum = fmt::format("{} · ({})", number_text(*factor), sum);
  return fmt::format("{}, θ = {} · {}", sum, number_text(quantity(provenance, "position").value_or(0.0)),
                     number_text(quantity(provenance, "inverse frequency").value_or(0.0)));
}

std::string divisor_of(const CellProvenance& provenance) {
  for (const NormKind kind : {NormKind::rms, NormKind::layer})
    if (quantity(provenance, deviation_name(kind))) return deviation_name(kind);
  return deviation_name(NormKind::l2);
}

// "q_norm.weight[1] · q_heads[0,0,2,1] / √(mean square + ε)", with the mean and the offset where there are
// any.
std::string norm_text(const CellProvenance& provenance, const std::string& own, const std::string& weight) {
  const std::optional<double> offset = quantity(provenance, "offset");
  const std::string gain = weight.empty() ? ""
                           : offset       ? fmt::format("({} + {}) · ", number_text(*offset), weight)
                                          : weight + " · ";
  const bool centred = quantity(provenance, "mean").has_value();
  return gain + (centred ? fmt::format("({} − mean)", own) : own) + " / " + divisor_of(provenance);
}

// "(dn − mean dn − n · mean dn·n) / √(variance + ε), dn = …, n = …": dn is the gradient, times its weight
// if there is one.
std::string norm_gradient_text(const CellProvenance& provenance, const std::string& dy, const std::string& x) {
  const bool centred = quantity(provenance, "mean dn").has_value();
  const char* const along = quantity(provenance, "Σ dn·n") ? "Σ dn·n" : "mean dn·n";
  const bool weighted = provenance.terms.at(0).factors.size() > 2;
  return fmt::format("(dn{0} − n · {1}) / {5}, dn = {2}{3}, n = {4} / {5}", centred ? " − mean dn" : "",
                     along, weighted ? "weight · " : "", dy, centred ? fmt::format("({} − mean)", x) : x,
                     divisor_of(provenance));
}

// The product that is number `which` of those that apply to the cell.
std::string holding_text(const Rule& rule, std::span<const Index> index, std::size_t which) {
  for (const Product& product : rule.products)
    if (holds_at(product, index) && which-- == 0)
      return sum_sign(product, index) + factors_text(product, index);
  return {};
}

// "(indexer.k_norm.weight[1] · n[1] + indexer.k_norm.bias[1]) · cos θ − …, n[j] = (Σ_e key[0,3,e] ·
// indexer.wk.weight[j,e] − mean) / √(variance + ε)"
std::string indexer_key_text(const Rule& rule, const CellProvenance& provenance) {
  const std::vector<Index>& index = provenance.cell.index;
  const auto column = [&](Index d) {
    std::string text = fmt::format("n[{}]", d);
    for (const Product& product : rule.products) {
      const Operand& factor = product.factors.front();
      if (!product.sums.empty() || !holds_at(product, index) || mapped_index(factor.axes.front(), index) != d)
        continue;
      const std::string cell = factors_text(product, index);
      text = factor.tensor.id == Id::indexer_k_norm_weight ? cell + " · " + text : text + " + " + cell;
    }
    return text;
  };
  const Index own = index.back();
  const auto partner = quantity(provenance, "partner column");
  return fmt::format("{}, n[j] = (Σ_e {} − mean) / {}",
                     partner ? rotation_text(provenance, "(" + column(own) + ")",
                                             "(" + column(static_cast<Index>(*partner)) + ")",
                                             *partner > static_cast<double>(own))
                             : column(own),
                     factors_text(rule.products.at(0), index), deviation_name(NormKind::layer));
}

std::string right_side(const Trace& trace, const Rule& rule, const CellProvenance& provenance) {
  const std::vector<Index>& index = provenance.cell.index;
  const auto factors_of = [&](std::size_t product) { return factors_text(rule.products.at(product), index); };
  // In a row: the source at the cell's own position; for a gradient, that of the function it passes through.
  const auto own_source = [&] { return cell_text({rule.products.at(0).factors.at(0).tensor, index}); };
  const auto own_result = [&] { return cell_text({rule.products.at(0).factors.at(1).tensor, index}); };
  const auto factor = [&](std::size_t which) {
    Product one = rule.products.at(0);
    one.factors = {one.factors.at(which)};
    return factors_text(one, index);
  };
  switch (provenance.combine) {
    case Combine::given:
      return "given";
    case Combine::copy:
    case Combine::product_sum:
    case Combine::merge_masks:
      return joined_products(trace, rule, index);
    case Combine::clip: {
      const std::string bound = number_text(quantity(provenance, "clip").value_or(0.0));
      return fmt::format("{} clipped to [−{}, {}]", factors_of(0), bound, bound);
    }
    case Combine::clip_gradient:
      return fmt::format("{} where |{}| ≤ {}, else 0", factors_of(0), factors_of(1),
                         number_text(quantity(provenance, "clip").value_or(0.0)));
    case Combine::rotation:
      return rotation_text(
          provenance, cell_text(provenance.terms.at(0).factors[0]),
          cell_text(provenance.terms.at(1).factors[0]),
          provenance.terms.at(1).factors[0].index.back() > provenance.terms.at(0).factors[0].index.back());
    case Combine::scale:
      return score_scale(trace.options).text(factors_of(0), {number_text});
    case Combine::scale_gradient:
      return score_scale(trace.options)
          .gradient_text(factors_of(0), rule.products.size() > 1 ? factors_of(1) : "", {number_text});
    case Combine::add_mask:
      if (const auto fill = quantity(provenance, "fill")) {
        return fmt::format("{}, because {} = −∞", number_text(*fill), factors_of(1));
      }
      return fmt::format("{} + {}", factors_of(0), factors_of(1));
    case Combine::add_mask_gradient:
      return quantity(provenance, "fill")
                 ? fmt::format("0, because {} = −∞ and the score was filled", factors_of(1))
                 : factors_of(0);
    case Combine::softmax: {
      const std::string sum =
          fmt::format("{}exp({} − max)", sum_sign(rule.products.at(0), index), factors_of(0));
      const CellRef& last = provenance.terms.back().factors[0];
      return last.tensor.id != Id::sinks
                 ? fmt::format("exp({} − max) / {}", own_source(), sum)
                 : fmt::format("exp({} − max) / (exp({} − max) + {})", own_source(), cell_text(last), sum);
    }
    case Combine::indexer_query:
      return rotation_text(provenance, holding_text(rule, index, 0), holding_text(rule, index, 1),
                           *quantity(provenance, "partner column") > static_cast<double>(index.back()));
    case Combine::indexer_key:
      return indexer_key_text(rule, provenance);
    case Combine::indexer_weight:
      return fmt::format("{} / √{}", holding_text(rule, index, 0), trace.options.indexer.value().heads);
    case Combine::indexer_score:
      return fmt::format("Σ_m {} · ReLU(Σ_d {} · {} / √{})", factor(2), factor(0), factor(1),
                         trace.options.indexer.value().width);
    case Combine::full_softmax: {
      const std::string sum = fmt::format("Σ_s exp({} + masks − max)", factors_of(0));
      const CellRef& last = provenance.terms.back().factors[0];
      return fmt::format(
          "exp({} + masks − max) / {}, masks without the indexer's choice", own_source(),
          last.tensor.id != Id::sinks ? sum : fmt::format("(exp({} − max) + {})", cell_text(last), sum));
    }
    case Combine::log_sum_exp:
      return fmt::format("max + ln {}exp({} − max)", sum_sign(rule.products.at(0), index), factors_of(0));
    case Combine::sink_share:
      return fmt::format("exp({0}) / (exp({0}) + exp({1}))", factors_of(1), factors_of(0));
    case Combine::sink_gradient:
      return "−" + joined_products(trace, rule, index);
    case Combine::dropout:
      return fmt::format("{} · {}", factors_of(0), number_text(quantity(provenance, "factor").value_or(1.0)));
    case Combine::mean:
      return fmt::format("1/{} · {}{}", rule.products.at(0).sums[0].size,
                         sum_sign(rule.products.at(0), index), factors_of(0));
    case Combine::gate:
      return fmt::format("{} · σ({})", factor(0), factor(1));
    case Combine::gate_gradient:
      return fmt::format("{}{} · {} · σ(g) · (1 − σ(g)), g = {}", sum_sign(rule.products.at(0), index),
                         factor(0), factor(1), factor(2));
    case Combine::norm:
      return norm_text(provenance, own_source(), rule.products.size() > 1 ? factors_of(1) : "");
    case Combine::softmax_gradient:
      return fmt::format("{} · ({} − {}{})", own_result(), own_source(), sum_sign(rule.products.at(0), index),
                         factors_of(0));
    case Combine::norm_gradient:
      return norm_gradient_text(provenance, own_source(), own_result());
    case Combine::norm_weight_gradient: {
      const NormKind kind = norm_of(trace.options, provenance.cell.tensor.id).kind;
      const std::string x = kind == NormKind::layer ? fmt::format("({} − mean)", factor(1)) : factor(1);
      return fmt::format("{}{} · {} / {} of its row", sum_sign(rule.products.at(0), index), factor(0), x,
                         deviation_name(kind));
    }
  }
  return {};
}

}  // namespace

std::string cell_formula(const Trace& trace, const Rule& rule, const CellProvenance& provenance) {
  return fmt::format("{} = {}", cell_text(provenance.cell), right_side(trace, rule, provenance));
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  std::string text = fmt::format("{:.6g}", value);
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at))
    text.replace(at, 1, "−");
  return text;
}

}  // namespace headwise
