#include "core/attention/rules.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/indexer.h"

namespace headwise {
namespace {

using Id = TensorId;
constexpr int n = 0, h = 1, l = 2, s = 3;
constexpr double masked_out = -std::numeric_limits<double>::infinity();

// query + offset − key: how far back the key is.
struct Position {
  Index query, offset, key;
  Index distance() const { return query + offset - key; }
};

Position position(const Trace& trace, std::span<const Index> index) {
  const AttentionSizes sizes = attention_sizes(trace.options, trace.tensors);
  return {index[l],
          causal_offset(trace.options, given_masks(trace.tensors), index[n], sizes.queries, sizes.keys),
          index[s]};
}

double alibi_slope(const Trace& trace, std::span<const Index> index) {
  return alibi_slopes(trace.options.num_heads, trace.options.alibi_scale)[static_cast<std::size_t>(index[h])];
}

Product mask_product(MaskReading reading, std::string label, Interval keys, std::vector<Operand> factors = {}) {
  Product product;
  product.factors = std::move(factors);
  product.where = {{s, keys}};
  product.reading = reading;
  product.label = std::move(label);
  return product;
}

MaskReading reading_of(const Tensor& mask, bool true_blocks) {
  if (mask.dtype() != DType::boolean) return MaskReading::added;
  return true_blocks ? MaskReading::blocked_if_true : MaskReading::blocked_if_false;
}

// Multi-head attention: (L,S) or (N·H,L,S). Scaled dot-product attention: anything that broadcasts to
// (N,H,L,S), aligned at the right; an axis of size 1 is repeated.
std::vector<AxisMap> attn_mask_axes(const Trace& trace) {
  const Shape& mask = trace.tensors.attn_mask->shape();
  if (projects(trace.options.op)) {
    if (mask.rank() == 2) return {axis_of(l), axis_of(s)};
    return {axis_joined(n, trace.options.num_heads, h), axis_of(l), axis_of(s)};
  }
  std::vector<AxisMap> axes;
  for (Index axis = 0; axis < mask.rank(); ++axis) {
    const auto of_result = static_cast<int>(axis + 4 - mask.rank());
    axes.push_back(mask.size(axis) == 1 ? axis_fixed(0) : axis_of(of_result));
  }
  return axes;
}

void add_mask_products(const Trace& trace, Index keys, std::vector<Product>& products) {
  const Tensor& mask = *trace.tensors.attn_mask;
  const bool is_mha = projects(trace.options.op);
  const Index columns = mask.shape().rank() == 0 ? 1 : mask.shape().size(mask.shape().rank() - 1);
  const Index reach = columns == 1 ? keys : columns;  // one column is repeated, fewer than S are padded
  products.push_back(mask_product(reading_of(mask, is_mha), "attn_mask", {0, reach},
                                  {{{Id::attn_mask}, attn_mask_axes(trace)}}));
  if (reach < keys) {
    products.push_back(mask_product(MaskReading::blocked, "attn_mask ends before this key", {reach, keys}));
  }
}

// "(−∞ if |3 − 5| ≥ 2)", "(−∞ if 5 < 3 − 4 or 5 > 3 + 1)"
std::string window_text(const PositionWindow& window, const std::string& query, Index key) {
  if (window.behind == window.ahead)
    return fmt::format("(−∞ if |{} − {}| ≥ {})", query, key, window.behind + 1);
  const std::string behind = fmt::format("{} < {} − {}", key, query, window.behind),
                    ahead = fmt::format("{} > {} + {}", key, query, window.ahead);
  return fmt::format("(−∞ if {})", window.ahead == PositionWindow::unbounded    ? behind
                                   : window.behind == PositionWindow::unbounded ? ahead
                                                                                : behind + " or " + ahead);
}

}  // namespace

std::vector<Product> mask_products(const Trace& trace) {
  const AttentionOptions& o = trace.options;
  const TraceTensors& t = trace.tensors;
  const Index keys = attention_sizes(trace.options, t).keys;
  const Interval all{0, keys};
  std::vector<Product> products;
  if (t.attn_mask) add_mask_products(trace, keys, products);
  if (t.key_padding_mask) {
    products.push_back(mask_product(reading_of(*t.key_padding_mask, true), "key_padding_mask", all,
                                    {{{Id::key_padding_mask}, {axis_of(n), axis_of(s)}}}));
  }
  if (t.valid_lens) {
    std::vector<AxisMap> axes{axis_of(n)};
    if (t.valid_lens->shape().rank() == 2) axes.push_back(axis_of(l));
    products.push_back(mask_product(MaskReading::blocked_from, "valid_lens", all, {{{Id::valid_lens}, axes}}));
  }
  if (t.nonpad_kv_seqlen) {
    products.push_back(mask_product(MaskReading::blocked_from, "nonpad_kv_seqlen", all,
                                    {{{Id::nonpad_kv_seqlen}, {axis_of(n)}}}));
  }
  if (o.is_causal) products.push_back(mask_product(MaskReading::causal, "causal", all));
  if (window_of(o).bounds())
    products.push_back(mask_product(MaskReading::sliding_window, "sliding window", all));
  if (o.alibi) products.push_back(mask_product(MaskReading::alibi, "ALiBi", all));
  if (o.relative_bias)
    products.push_back(
        mask_product(MaskReading::added, "position_bias", all,
                     {{{Id::position_bias}, {axis_fixed(0), axis_of(h), axis_of(l), axis_of(s)}}}));
  if (o.indexer) {  // the whole row: what else is in it decides whether a score is among the largest
    constexpr int other = s + 1;
    products.push_back(mask_product(MaskReading::not_chosen, "indexer", all,
                                    {{{Id::indexer_scores}, {axis_of(n), axis_of(l), axis_of(other)}}}));
    products.back().sums = {{"s", keys}};
  }
  return products;
}

double mask_addend(const Trace& trace, const Product& product, std::span<const Index> index) {
  double cell = 0.0;
  if (!product.factors.empty() && product.sums.empty()) {
    std::vector<Index> at;
    for (const AxisMap& map : product.factors.front().axes) at.push_back(mapped_index(map, index));
    cell = trace.tensor(product.factors.front().tensor)->at(at);
  }
  return mask_contribution(trace, product, index, cell);
}

double mask_contribution(const Trace& trace, const Product& product, std::span<const Index> index, double cell) {
  const auto blocked_if = [](bool blocked) { return blocked ? masked_out : 0.0; };
  switch (product.reading) {
    case MaskReading::added:
      return cell;
    case MaskReading::blocked_if_true:
      return blocked_if(cell != 0);
    case MaskReading::blocked_if_false:
      return blocked_if(cell == 0);
    case MaskReading::blocked_from:
      return blocked_if(static_cast<double>(index[s]) >= cell);
    case MaskReading::blocked:
      return masked_out;
    case MaskReading::causal:
      return blocked_if(position(trace, index).distance() < 0);
    case MaskReading::sliding_window:
      return blocked_if(position(trace, index).distance() > window_of(trace.options).behind ||
                        -position(trace, index).distance() > window_of(trace.options).ahead);
    case MaskReading::alibi:
      return alibi_bias(alibi_slope(trace, index), position(trace, index).distance(), trace.options.is_causal);
    case MaskReading::not_chosen:
      return blocked_if(!chosen_keys(trace, index[n], index[h], index[l])(index[s]));
  }
  return 0.0;
}

std::string mask_contribution_text(const Trace& trace, const Product& product, std::span<const Index> index,
                                   const std::string& factor) {
  const Position at = position(trace, index);
  const std::string query = at.offset == 0  ? fmt::format("{}", at.query)
                            : at.offset > 0 ? fmt::format("{} + {}", at.query, at.offset)
                                            : fmt::format("{} − {}", at.query, -at.offset);
  switch (product.reading) {
    case MaskReading::added:
      return factor;
    case MaskReading::blocked_if_true:
      return fmt::format("(−∞ if {})", factor);
    case MaskReading::blocked_if_false:
      return fmt::format("(−∞ unless {})", factor);
    case MaskReading::blocked_from:
      return fmt::format("(−∞ if {} ≥ {})", index[s], factor);
    case MaskReading::blocked:
      return fmt::format("(−∞, {})", product.label);
    case MaskReading::causal:
      return fmt::format("(−∞ if {} > {})", index[s], query);
    case MaskReading::sliding_window:
      return window_text(window_of(trace.options), query, index[s]);
    case MaskReading::alibi:
      if (trace.options.is_causal && at.distance() < 0) return "(0, ahead of the query)";
      return fmt::format("(−{:.6g}·|{} − {}|)", alibi_slope(trace, index), query, index[s]);
    case MaskReading::not_chosen:
      return fmt::format("(−∞ unless indexer_scores[{},{},{}] is among the {} largest of its row)", index[n],
                         index[l], index[s], trace.options.indexer.value().k);
  }
  return {};
}

}  // namespace headwise
