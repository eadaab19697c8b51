#include "core/trace/cell_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace headwise {
namespace {

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
  const Index column = provenance.cell.index.back();
  if (provenance.combine == Combine::copy) return fmt::format("Column {} is not turned.", column);
  const double position = quantity(provenance, "position").value_or(0.0);
  if (position == 0.0) return "Position 0 is not turned: its angle is 0.";
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
                 : "";
    case Id::q_heads:
      return provenance.combine == Combine::rotation ? rotation_note(provenance) : "";
    case Id::k_heads:
      if (provenance.combine == Combine::rotation) return rotation_note(provenance);
      [[fallthrough]];
    case Id::k_rotary:
    case Id::v_heads:
      return collecting_head_note(trace, provenance.cell.index[1]);
    case Id::masked_scores:
      return softmax_gradient_note(provenance);
    case Id::head_output:
      return muted_head_note(trace, provenance.terms[0]);
    case Id::residual_output:
    case Id::output:
      return provenance.combine == Combine::layer_norm_gradient
                 ? "y is the normalised number and dy its gradient; the means are over the row."
                 : "";
    default:
      return {};
  }
}

}  // namespace

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
      return rotation_note(provenance);
    case Id::scores:
    case Id::head_output:
      return shared_head_note(trace, provenance.cell.index[1]);
    case Id::mask_bias:
      return provenance.terms.empty() ? "An appended column is blocked by no mask." : "";
    case Id::attn_weights:
      return softmax_note(provenance);
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

}  // namespace headwise
