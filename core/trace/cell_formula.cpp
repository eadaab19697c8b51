#include "core/trace/cell_formula.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/trace/mask_rule.h"

namespace headwise {
namespace {

using Id = TensorId;

// The index on one axis: what the cell fixes is a number, what is summed keeps its letter: "8", "d", "2·r +
// 4".
std::string axis_text(const AxisMap& map, std::span<const Index> index, const std::vector<SummedAxis>& sums) {
  std::vector<std::string> parts;
  AxisMap fixed{map.offset, {}};
  for (const AxisTerm& term : map.terms) {
    const auto variable = static_cast<std::size_t>(term.variable);
    if (variable < index.size()) {
      fixed.terms.push_back(term);
      continue;
    }
    std::string text = sums[variable - index.size()].letter;
    if (term.divide != 1) text = fmt::format("({} // {})", text, term.divide);
    if (term.modulus != 0) text = fmt::format("({} % {})", text, term.modulus);
    parts.push_back(term.times == 1 ? text : fmt::format("{}·{}", term.times, text));
  }
  const Index number = mapped_index(fixed, index);
  if (number != 0 || parts.empty()) parts.push_back(fmt::format("{}", number));
  return fmt::format("{}", fmt::join(parts, " + "));
}

std::string factor_text(const Operand& factor, std::span<const Index> index,
                        const std::vector<SummedAxis>& sums) {
  std::vector<std::string> axes;
  for (const AxisMap& map : factor.axes) axes.push_back(axis_text(map, index, sums));
  return fmt::format("{}[{}]", to_string(factor.tensor), fmt::join(axes, ","));
}

std::string factors_text(const Product& product, std::span<const Index> index) {
  std::vector<std::string> factors;
  for (const Operand& factor : product.factors) factors.push_back(factor_text(factor, index, product.sums));
  return fmt::format("{}", fmt::join(factors, " · "));
}

// "Σ_d ", "Σ_{n,l} ", or nothing.
std::string sum_sign(const Product& product) {
  if (product.sums.empty()) return {};
  std::vector<std::string> letters;
  for (const SummedAxis& sum : product.sums) letters.push_back(sum.letter);
  return letters.size() == 1 ? fmt::format("Σ_{} ", letters[0])
                             : fmt::format("Σ_{{{}}} ", fmt::join(letters, ","));
}

std::string cell_text(const CellRef& cell) {
  return fmt::format("{}[{}]", to_string(cell.tensor), fmt::join(cell.index, ","));
}

std::string joined_products(const Trace& trace, const Rule& rule, std::span<const Index> index) {
  std::vector<std::string> products;
  for (const Product& product : rule.products) {
    if (!holds_at(product, index)) continue;
    const std::string factors = factors_text(product, index);
    products.push_back(rule.combine == Combine::merge_masks
                           ? mask_contribution_text(trace, product, index, factors)
                           : sum_sign(product) + factors);
  }
  return products.empty() ? "0" : fmt::format("{}", fmt::join(products, " + "));
}

std::string scale_text(const AttentionOptions& options, double scale, const std::string& score) {
  std::string text = fmt::format("{} · {}", score, number_text(scale));
  if (options.temperature != 1.0) text += " / " + number_text(options.temperature);
  if (options.softcap > 0) text = fmt::format("{0} · tanh({1} / {0})", number_text(options.softcap), text);
  return text;
}

std::string right_side(const Trace& trace, const Rule& rule, const CellProvenance& provenance) {
  const std::vector<Index>& index = provenance.cell.index;
  const auto factors_of = [&](std::size_t product) { return factors_text(rule.products[product], index); };
  // Along a row: the source at the cell's own place.
  const auto own_source = [&] { return cell_text({rule.products[0].factors[0].tensor, index}); };
  switch (provenance.combine) {
    case Combine::given:
      return "given";
    case Combine::copy:
    case Combine::product_sum:
    case Combine::merge_masks:
      return joined_products(trace, rule, index);
    case Combine::scale:
      return scale_text(trace.options, quantity(provenance, "scale").value_or(1.0), factors_of(0));
    case Combine::add_mask:
      if (const auto fill = quantity(provenance, "fill")) {
        return fmt::format("{}, because {} = −∞", number_text(*fill), factors_of(1));
      }
      return fmt::format("{} + {}", factors_of(0), factors_of(1));
    case Combine::softmax:
      return fmt::format("exp({} − max) / {}exp({} − max)", own_source(), sum_sign(rule.products[0]),
                         factors_of(0));
    case Combine::dropout:
      return fmt::format("{} · {}", factors_of(0), number_text(quantity(provenance, "factor").value_or(1.0)));
    case Combine::mean:
      return fmt::format("1/{} · {}{}", rule.products[0].sums[0].size, sum_sign(rule.products[0]),
                         factors_of(0));
    case Combine::layer_norm:
      return fmt::format("({} − mean) / √(variance + ε)", own_source());
  }
  return {};
}

// "2 neighbouring query heads share key/value head 1: heads 2 to 3."
std::string shared_head_note(const Trace& trace, Index query_head) {
  const Index group = trace.options.num_heads / trace.options.num_kv_heads;
  if (group == 1) return {};
  const Index g = query_head / group;
  return fmt::format("Key/value head {0} = {1} // {2} serves the {2} query heads {3} to {4}.", g, query_head,
                     group, g * group, (g + 1) * group - 1);
}

std::string given_note(const Trace& trace, const CellProvenance& provenance) {
  const TensorName name = provenance.cell.tensor;
  const TensorName first = first_name(trace, name);
  if (first != name) return fmt::format("{} is the same array as {}.", to_string(name), to_string(first));
  return fmt::format("Given: {}.", tensor_entry(name.id).what);
}

std::string appended_row_note(const CellProvenance& provenance) {
  if (provenance.terms.empty()) return "The row of zeros that add_zero_attn appends.";
  const Id source = provenance.terms[0].factors[0].tensor.id;
  if (source != Id::bias_k && source != Id::bias_v) return {};
  return fmt::format("The row that {} appends, the same for every batch.", tensor_entry(source).name);
}

std::string softmax_note(const CellProvenance& provenance) {
  const double maximum = quantity(provenance, "row maximum").value_or(0.0);
  if (maximum == -INFINITY && std::isnan(provenance.value)) {
    return "Every key of this row is blocked: 0 / 0 is NaN.";
  }
  if (maximum == -INFINITY) return "Every key of this row is blocked: the row is set to 0.";
  if (std::isnan(provenance.value))
    return "A NaN or +∞ in the row of scores reaches every weight of the row.";
  return {};
}

std::string muted_head_note(const Trace& trace, const Term& term) {
  if (term.factors.size() < 2) return {};
  const CellRef& gain = term.factors[1];
  if (trace.tensor(gain.tensor)->at(gain.index) != 0.0) return {};
  return fmt::format("Head {} is muted: its gain is 0.", gain.index[0]);
}

}  // namespace

std::string cell_formula(const Trace& trace, const Rule& rule, const CellProvenance& provenance) {
  return fmt::format("{} = {}", cell_text(provenance.cell), right_side(trace, rule, provenance));
}

std::string cell_note(const Trace& trace, const CellProvenance& provenance) {
  if (provenance.combine == Combine::given) return given_note(trace, provenance);
  switch (provenance.cell.tensor.id) {
    case Id::k:
    case Id::v:
      return provenance.combine == Combine::copy || provenance.terms.empty() ? appended_row_note(provenance)
                                                                             : "";
    case Id::scores:
    case Id::head_output:
      return shared_head_note(trace, provenance.cell.index[1]);
    case Id::mask_bias:
      return provenance.terms.empty() ? "An appended column is blocked by no mask." : "";
    case Id::attn_weights:
      return softmax_note(provenance);
    case Id::dropped_weights:
      return quantity(provenance, "factor") == 0.0 ? "Dropped." : "";
    case Id::concat:
      return muted_head_note(trace, provenance.terms[0]);
    default:
      return {};
  }
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
