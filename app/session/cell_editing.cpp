#include "app/session/cell_editing.h"

#include <algorithm>

#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

void set_edit(Scenario& scenario, CellEdit edit) {
  const auto same = std::ranges::find_if(scenario.edits, [&](const CellEdit& other) {
    return other.tensor == edit.tensor && other.index == edit.index;
  });
  if (same == scenario.edits.end()) {
    scenario.edits.push_back(std::move(edit));
  } else {
    same->value = edit.value;
  }
}

// The index of a pair in attn_mask as it stands, (L,S) where there is none yet; axes of 1 are broadcast.
std::vector<Index> mask_index(const Trace& trace, Index batch, Index head, Index query, Index key) {
  const TensorPtr& mask = trace.tensors.attn_mask;
  if (!mask) return {query, key};
  const AttentionSizes sizes = attention_sizes(trace.options, trace.tensors);
  const bool joined = trace.options.op == Op::multi_head_attention;
  std::vector<Index> index;
  switch (mask->shape().rank()) {
    case 4:
      index = {batch, head, query, key};
      break;
    case 3:
      index = {joined ? batch * sizes.heads + head : head, query, key};
      break;
    case 2:
      index = {query, key};
      break;
    default:
      index.assign(static_cast<std::size_t>(mask->shape().rank()), key);
  }
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    index[axis] = std::min(index[axis], mask->shape().size(static_cast<Index>(axis)) - 1);
  return index;
}

bool true_blocks(const Trace& trace) {
  return trace.options.op == Op::multi_head_attention;
}

}  // namespace

bool is_editable(const Trace& trace, const CellRef& cell) {
  if (cell.tensor.gradient || !trace.tensor(cell.tensor)) return false;
  const TensorId id = cell.tensor.id;
  if (trace.options.op == Op::scaled_dot_product_attention &&
      (id == TensorId::q_heads || id == TensorId::k_heads || id == TensorId::v_heads)) {
    return true;
  }
  return tensor_entry(id).role != TensorRole::intermediate && id != TensorId::head_gain;
}

Scenario with_cell(const Scenario& scenario, const CellRef& cell, double value) {
  Scenario edited = scenario;
  set_edit(edited, {to_string(cell.tensor), cell.index, value});
  return edited;
}

std::string painting_refusal(const Trace& trace) {
  const TensorPtr& mask = trace.tensors.attn_mask;
  if (mask && mask->dtype() != DType::boolean)
    return "attn_mask is a float mask: its numbers are added, not painted";
  if (mask && mask->shape().rank() < 2) return "attn_mask has no pairs to paint";
  return "";
}

bool is_painted(const Trace& trace, Index batch, Index head, Index query, Index key) {
  const TensorPtr& mask = trace.tensors.attn_mask;
  if (!mask || mask->size() == 0) return false;
  return (mask->at(mask_index(trace, batch, head, query, key)) != 0.0) == true_blocks(trace);
}

Scenario with_painted(const Scenario& scenario, const Trace& trace, Index batch, Index head, Index query,
                      Index key, BrushShape shape, bool blocked) {
  const AttentionSizes sizes = attention_sizes(trace.options, trace.tensors);
  Scenario edited = scenario;
  if (!painting_refusal(trace).empty() || query >= sizes.queries || key >= sizes.keys) return edited;
  const double value = blocked == true_blocks(trace) ? 1.0 : 0.0;
  const bool whole_row = shape == BrushShape::row, whole_column = shape == BrushShape::column;
  for (Index i = whole_column ? 0 : query; i < (whole_column ? sizes.queries : query + 1); ++i) {
    for (Index j = whole_row ? 0 : key; j < (whole_row ? sizes.keys : key + 1); ++j) {
      set_edit(edited, {"attn_mask", mask_index(trace, batch, head, i, j), value});
    }
  }
  return edited;
}

}  // namespace headwise
