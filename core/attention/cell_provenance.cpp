#include "core/attention/cell_provenance.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/attention/indexer.h"
#include "core/attention/rules.h"
#include "core/attention/score_path.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// What is special about a cell, in a sentence.

using Id = TensorId;

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

// "Position 3: columns 1 and 9 are rotated together, by 0.3 radians."
std::string rotation_note(const CellProvenance& provenance) {
  if (provenance.combine == Combine::copy)
    return fmt::format("Column {} is not rotated.", provenance.cell.index.back());
  const double position = quantity(provenance, "position").value_or(0.0);
  if (position == 0.0) return "Position 0 is not rotated: its angle is 0.";
  const Index column = provenance.terms.at(0).factors[0].index.back();
  const Index partner = provenance.terms.at(1).factors[0].index.back();
  return fmt::format("Position {}: columns {} and {} are rotated together, by {:.4g} radians{}.", position,
                     std::min(column, partner), std::max(column, partner),
                     quantity(provenance, "θ").value_or(0.0),
                     provenance.cell.tensor.gradient ? ", here backwards" : "");
}

std::string frozen_head_note(Index head, const char* consequence) {
  return fmt::format("Head {} is frozen: {}.", head, consequence);
}

std::string softmax_note(const CellProvenance& provenance) {
  if (provenance.combine == Combine::copy)
    return frozen_head_note(provenance.cell.index[1], "it keeps the weights it had, whatever its scores are");
  const double maximum = quantity(provenance, "row maximum").value_or(0.0);
  if (maximum == -INFINITY && std::isnan(provenance.value)) {
    return "Every key of this row is blocked: the row's maximum is −∞, and −∞ − (−∞) is NaN.";
  }
  if (maximum == -INFINITY) return "Every key of this row is blocked: the row is set to 0.";
  if (quantity(provenance, "sink") == maximum && quantity(provenance, "Σ exp") == 1.0)
    return "The sink takes all of this row: next to it no key has any weight.";
  if (std::isnan(provenance.value))
    return "A NaN or +∞ in the row of scores reaches every weight of the row.";
  return {};
}

// "Not among the k = 4 largest of indexer_scores: 6th of the 9 keys that the masks leave; the last that takes
// part has 0.25."
std::string chosen_note(const Trace& trace, const CellProvenance& provenance) {
  const std::vector<Index>& cell = provenance.cell.index;
  const Index k = trace.options.indexer.value().k;
  const ChosenKeys chosen = chosen_keys(trace, cell[0], cell[1], cell[2]);
  const std::optional<Index> rank = chosen.rank(cell[3]);
  if (!rank) return "Another mask blocks this key: the indexer chooses among those that are left.";
  if (chosen.allowed() <= k)
    return fmt::format("The masks leave {} keys, not more than k = {}: all of them take part.",
                       chosen.allowed(), k);
  const Index last = chosen.order()[static_cast<std::size_t>(k - 1)];
  return fmt::format(
      "{} the k = {} largest of indexer_scores: rank {} of the {} keys that the masks leave; "
      "rank {} has {}.",
      *rank <= k ? "Among" : "Not among", k, *rank, chosen.allowed(), k,
      number_text(trace.tensors.indexer_scores->at({cell[0], cell[2], last})));
}

// Of a key that only the indexer leaves out.
std::string left_out_note(const Trace& trace, const CellProvenance& provenance) {
  const std::vector<Index>& cell = provenance.cell.index;
  const ChosenKeys chosen = chosen_keys(trace, cell[0], cell[1], cell[2]);
  if (!chosen.rank(cell[3]) || chosen(cell[3])) return {};
  return "The indexer does not choose this key: attn_weights gives its share to those that are chosen.";
}

// "Position 3: …" where a column of the indexer is rotated.
std::string indexer_note(const CellProvenance& provenance) {
  const std::optional<double> position = quantity(provenance, "position");
  if (!position) return {};
  return *position == 0.0
             ? "Position 0 is not rotated: its angle is 0."
             : fmt::format("Position {}: the column is rotated with column {}, by {:.4g} radians.", *position,
                           quantity(provenance, "partner column").value_or(0.0),
                           quantity(provenance, "θ").value_or(0.0));
}

std::string muted_head_note(const Trace& trace, const Term& term) {
  if (term.factors.size() < 2) return {};
  const CellRef& gain = term.factors[1];
  if (trace.tensor(gain.tensor)->at(gain.index) != 0.0) return {};
  return fmt::format("Head {} is muted: its gain is 0.", gain.index[0]);
}

// In a gradient, the heads that share a key/value head contribute to it.
std::string collecting_head_note(const Trace& trace, Index kv_head) {
  const Index group = trace.options.num_heads / trace.options.num_kv_heads;
  if (group == 1) return {};
  return fmt::format("Key/value head {} collects from the {} query heads that it serves, {} to {}.", kv_head,
                     group, kv_head * group, (kv_head + 1) * group - 1);
}

std::string softmax_gradient_note(const CellProvenance& provenance) {
  if (!std::isfinite(provenance.value)) return {};
  if (quantity(provenance, "P") == 0.0) return "A key of weight 0 passes no gradient on to its score.";
  return "P is the weight and dP its gradient; Σ dP·P is the mean of dP over the row, weighted by P.";
}

std::string gradient_note(const Trace& trace, const CellProvenance& provenance) {
  const Id id = provenance.cell.tensor.id;
  const std::string_view name = tensor_entry(id).name;
  if (provenance.combine == Combine::given) {
    return fmt::format("Given: grad_output, the weight of this cell in the loss Σ grad_output · {}.", name);
  }
  const std::vector<Index>& frozen = trace.options.frozen_heads;
  if (id == Id::masked_scores && std::ranges::find(frozen, provenance.cell.index[1]) != frozen.end()) {
    return frozen_head_note(provenance.cell.index[1],
                            "the weights it keeps are a constant, and no gradient reaches its scores");
  }
  if (provenance.terms.empty()) return "The loss does not depend on this number.";
  if (quantity(provenance, "fill")) return "A filled score is a constant: no gradient passes.";
  if (quantity(provenance, "factor") == 0.0) return "Dropped: no gradient passes.";
  switch (id) {
    case Id::query:
      return first_name(trace, {Id::value}) == TensorName{Id::query} &&
                     first_name(trace, {Id::key}) == TensorName{Id::query}
                 ? "The total: one array is query, key and value."
             : trace.tensors.query == trace.tensors.key ? "The total: one array is query and key."
                                                        : "";
    case Id::q_heads:
    case Id::q_normed:
    case Id::kv_a:
      return provenance.combine == Combine::rotation ? rotation_note(provenance) : "";
    case Id::k_heads:
    case Id::k_normed:
    case Id::k_rotary:
    case Id::v_heads:
    case Id::k_absorbed:
    case Id::present_key:
    case Id::present_value:
      if (provenance.combine == Combine::rotation) return rotation_note(provenance);
      if (path_of_keys(trace.options).back() != id && path_of_values(trace.options).back() != id) return "";
      return collecting_head_note(trace, provenance.cell.index[1]);
    case Id::masked_scores:
      return softmax_gradient_note(provenance);
    case Id::head_output:
      return muted_head_note(trace, provenance.terms[0]);
    case Id::residual_output:
    case Id::output:
      return provenance.combine == Combine::norm_gradient
                 ? "n is the normalised number and dn its gradient; the means are over the row."
                 : "";
    default:
      return {};
  }
}

// Where a row of the present lies: in the cache, or among this pass's own.
std::string present_note(const Trace& trace, const CellProvenance& provenance) {
  const std::vector<Index>& index = provenance.cell.index;
  const Index past = trace.options.past_length.value_or(0), row = index[index.size() - 2];
  return row < past ? fmt::format("Row {} of the cache: it was computed in an earlier pass.", row)
                    : fmt::format("Row {} of this pass, after the {} of the cache.", row - past, past);
}

// "Key/value head 1 = 3 // 2 serves the 2 query heads 2 to 3."; empty if there is nothing to say.
// `provenance` is complete except for its formula and note.
std::string cell_note(const Trace& trace, const CellProvenance& provenance) {
  if (provenance.cell.tensor.gradient) return gradient_note(trace, provenance);
  if (provenance.combine == Combine::given) return given_note(trace, provenance);
  switch (provenance.cell.tensor.id) {
    case Id::k:
    case Id::v:
      return provenance.combine == Combine::copy || provenance.terms.empty() ? appended_row_note(provenance)
                                                                             : "";
    case Id::q_rotary:
    case Id::k_rotary:
    case Id::k_rot:
      return rotation_note(provenance);
    case Id::present_key:
    case Id::present_value:
    case Id::present_compressed_kv:
    case Id::present_k_rot:
      return present_note(trace, provenance);
    case Id::head_output:
      if (is_absorbed(trace.options)) return "";
      [[fallthrough]];
    case Id::scores:
    case Id::latent_output:
      return shared_head_note(trace, provenance.cell.index[1]);
    case Id::mask_bias:
      if (trace.options.indexer) return chosen_note(trace, provenance);
      return provenance.terms.empty() ? "An appended column is blocked by no mask." : "";
    case Id::indexer_q:
    case Id::indexer_k:
      return indexer_note(provenance);
    case Id::full_weights:
      if (const std::string note = softmax_note(provenance); !note.empty()) return note;
      return left_out_note(trace, provenance);
    case Id::attn_weights:
      return softmax_note(provenance);
    case Id::lse:
      return provenance.value == -INFINITY ? "Every key of this row is blocked." : "";
    case Id::sink_weights:
      return "The sink has no value to add: this share of the row's attention goes nowhere.";
    case Id::dropped_weights:
      if (provenance.combine == Combine::copy && trace.options.dropout > 0.0)
        return frozen_head_note(provenance.cell.index[1], "dropout does not reach the weights it keeps");
      return quantity(provenance, "factor") == 0.0 ? "Dropped." : "";
    case Id::concat:
      return muted_head_note(trace, provenance.terms[0]);
    default:
      return {};
  }
}

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
  const auto next = [&] {
    for (std::size_t v = variables.size(); v-- > index.size();) {
      if (++variables[v] < product.sums[v - index.size()].size) break;
      variables[v] = 0;
    }
  };
  for (Index i = 0; i < count; ++i, next()) {
    if (!holds_at(product, variables)) continue;
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
    // Of a row that decides together, the cell's own key has what it adds.
    const bool of_row = !product.sums.empty();
    if (rule.combine == Combine::merge_masks)
      term.value = of_row && variables.back() != index.back()
                       ? 0.0
                       : mask_contribution(trace, product, index, term.value);
  }
}

void add_uncovered_box(std::vector<BoxRef>& boxes, BoxRef box) {
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
  for (const std::vector<Interval>& part : ranges_in_band(product, ranges)) {
    for (const Operand& factor : product.factors) {
      BoxRef box{factor.tensor, {}, {}};
      for (const AxisMap& map : factor.axes) {
        const Interval interval = mapped_interval(map, part);
        box.begin.push_back(interval.begin);
        box.end.push_back(interval.end);
      }
      add_uncovered_box(boxes, std::move(box));
    }
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
    if (product.combine_override) provenance.combine = *product.combine_override;
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

bool contains(const BoxRef& outer, const BoxRef& inner) {
  if (outer.tensor != inner.tensor) return false;
  for (std::size_t axis = 0; axis < outer.begin.size(); ++axis) {
    if (inner.begin[axis] < outer.begin[axis] || inner.end[axis] > outer.end[axis]) return false;
  }
  return true;
}

std::vector<BoxRef> boxes_of(const Rule& rule, const std::vector<std::vector<Interval>>& values) {
  std::vector<BoxRef> boxes;
  const std::size_t rank = rule.sizes.size();
  std::vector<std::size_t> choice(rank, 0);
  for (bool more = true; more;) {
    BoxRef& box = boxes.emplace_back(BoxRef{rule.result, {}, {}});
    for (std::size_t axis = 0; axis < rank; ++axis) {
      box.begin.push_back(values[axis][choice[axis]].begin);
      box.end.push_back(values[axis][choice[axis]].end);
    }
    more = false;
    for (std::size_t axis = rank; axis-- > 0 && !more;) {
      more = ++choice[axis] < values[axis].size();
      if (!more) choice[axis] = 0;
    }
  }
  return boxes;
}

std::vector<BoxRef> cells_made_from(const Rule& rule, TensorName tensor, const std::vector<Index>& index) {
  std::vector<BoxRef> boxes;
  for (const Product& product : rule.products) {
    for (const Operand& factor : product.factors) {
      if (factor.tensor != tensor) continue;
      for (const std::vector<Interval>& ranges : ranges_in_band(product, variable_ranges(rule, product))) {
        const auto values = variables_leading_to(index, factor.axes, ranges);
        if (std::ranges::any_of(values, [](const auto& intervals) { return intervals.empty(); })) continue;
        for (BoxRef& box : boxes_of(rule, values)) add_uncovered_box(boxes, std::move(box));
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
    for (BoxRef& box : cells_made_from(rule, source, index)) add_uncovered_box(consumers, std::move(box));
  };
  for (const TensorEntry& entry : tensor_entries()) {
    if (!tensor.gradient && trace.tensor(entry.id)) add_cells_of(declared_rule(trace, {entry.id}));
  }
  for (const Rule& rule : gradient_rules(trace)) add_cells_of(rule);
  return consumers;
}

}  // namespace headwise
