#include "app/session/cell_editing.h"

#include <algorithm>
#include <map>

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

// The index of a pair in attn_mask as it is, (L,S) if there is none yet; axes of size 1 are broadcast.
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
    return "attn_mask is a float mask: its numbers are added and cannot be painted";
  if (mask && mask->shape().rank() < 2) return "attn_mask has no pairs to paint";
  return "";
}

bool is_painted(const Trace& trace, Index batch, Index head, Index query, Index key) {
  const TensorPtr& mask = trace.tensors.attn_mask;
  if (!mask || mask->size() == 0) return false;
  return (mask->at(mask_index(trace, batch, head, query, key)) != 0.0) == true_blocks(trace);
}

Scenario with_painted_box(const Scenario& scenario, const Trace& trace, Index batch, Index head,
                          const PairBox& box, bool blocked) {
  const AttentionSizes sizes = attention_sizes(trace.options, trace.tensors);
  Scenario edited = scenario;
  if (!painting_refusal(trace).empty()) return edited;
  const double value = blocked == true_blocks(trace) ? 1.0 : 0.0;
  // Positions of earlier edits of the mask: a box has many pairs.
  std::map<std::vector<std::int64_t>, std::size_t> places;
  for (std::size_t i = 0; i < edited.edits.size(); ++i) {
    if (edited.edits[i].tensor == "attn_mask") places.emplace(edited.edits[i].index, i);
  }
  const Index last_query = std::min(std::max(box.query, box.to_query), sizes.queries - 1);
  const Index last_key = std::min(std::max(box.key, box.to_key), sizes.keys - 1);
  for (Index i = std::min(box.query, box.to_query); i <= last_query; ++i) {
    for (Index j = std::min(box.key, box.to_key); j <= last_key; ++j) {
      std::vector<Index> index = mask_index(trace, batch, head, i, j);
      const auto [place, is_new] = places.emplace(std::move(index), edited.edits.size());
      if (is_new) {
        edited.edits.push_back({"attn_mask", place->first, value});
      } else {
        edited.edits[place->second].value = value;
      }
    }
  }
  return edited;
}

Scenario with_painted(const Scenario& scenario, const Trace& trace, Index batch, Index head, Index query,
                      Index key, BrushShape shape, bool blocked) {
  const AttentionSizes sizes = attention_sizes(trace.options, trace.tensors);
  if (query >= sizes.queries || key >= sizes.keys) return scenario;
  PairBox box{query, key, query, key};
  if (shape == BrushShape::row) box = {query, 0, query, sizes.keys - 1};
  if (shape == BrushShape::column) box = {0, key, sizes.queries - 1, key};
  return with_painted_box(scenario, trace, batch, head, box, blocked);
}

}  // namespace headwise
