#include "app/session/cell_editing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/attention/attention_sizes.h"
#include "core/attention/trace_warnings.h"
#include "core/tensor/join.h"

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
  const bool joined = projects(trace.options.op);
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
  return projects(trace.options.op);
}

bool of_mask(const CellEdit& edit) {
  return edit.tensor == "attn_mask" || edit.tensor == "key_padding_mask" || edit.tensor == "valid_lens";
}

bool has_own_parameters(const Scenario& scenario) {
  return scenario.parameters.source == ParameterSource::file ||
         scenario.parameters.source == ParameterSource::model;
}

// True blocks a pair in multi_head_attention and lets it take part in scaled_dot_product_attention. An
// attn_mask from a file keeps its own numbers, and the edits of them.
void turn_painted_pairs(Scenario& scenario) {
  if (scenario.mask.file) return;
  for (CellEdit& edit : scenario.edits)
    if (edit.tensor == "attn_mask" && (edit.value == 0.0 || edit.value == 1.0)) edit.value = 1.0 - edit.value;
}

// What scaled_dot_product_attention does not have.
void take_module_options(AttentionSpec& to, const AttentionSpec& from) {
  to.add_bias_kv = from.add_bias_kv;
  for_options_with<AttentionSpec>(module_only,
                                  [&](const OptionRow&, auto member) { to.*member = from.*member; });
}

// Whether `now` still is the scenario that the switch left,
// with edits that scaled_dot_product_attention allows.
bool belongs(const OperatorSwitch& left, const Scenario& now) {
  return left.after.origin.folder == now.origin.folder && left.after.parameters == now.parameters;
}

}  // namespace

bool is_editable(const Trace& trace, const CellRef& cell) {
  if (cell.tensor.gradient || !trace.tensor(cell.tensor)) return false;
  const TensorId id = cell.tensor.id;
  return is_given(trace, cell.tensor) && id != TensorId::head_gain;
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
  for (std::size_t i = 0; i < edited.edits.size(); ++i)
    if (edited.edits[i].tensor == "attn_mask") places.emplace(edited.edits[i].index, i);
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

Scenario as_scaled_dot_product_attention(const Scenario& scenario) {
  Scenario to = scenario;
  to.op = Op::scaled_dot_product_attention;
  to.head_gain.reset();
  take_module_options(to.attention, {});
  if (has_own_parameters(scenario)) to.parameters.source = ParameterSource::random;
  std::erase_if(to.edits, [](const CellEdit& edit) { return !of_mask(edit); });
  turn_painted_pairs(to);
  return to;
}

Scenario as_multi_head_attention(const Scenario& scenario, const std::optional<OperatorSwitch>& left) {
  Scenario to = scenario;
  to.op = left && belongs(*left, scenario) ? left->before.op : Op::multi_head_attention;
  // (N,H,L,D) there, (N,L,E) here
  std::erase_if(to.edits, [](const CellEdit& edit) { return !of_mask(edit); });
  turn_painted_pairs(to);
  if (!left || !belongs(*left, scenario)) return to;
  const Scenario& before = left->before;
  const AttentionSpec& a = before.attention;
  take_module_options(to.attention, a);
  const bool same_sizes = to.attention.num_heads == a.num_heads && to.attention.embed_dim == a.embed_dim;
  if (same_sizes) {
    to.head_gain = before.head_gain;
    to.parameters.source = before.parameters.source;
    for (const CellEdit& edit : before.edits)
      if (!of_mask(edit)) to.edits.push_back(edit);
  }
  return to;
}

std::vector<std::string> dropped_by_switch(const Scenario& scenario) {
  std::vector<std::string> left;
  const auto name = [&](bool is_set, const char* what) {
    if (is_set) left.emplace_back(what);
  };
  name(scenario.parameters.source == ParameterSource::model, "the parameters of the model");
  name(scenario.parameters.source == ParameterSource::file, "the parameters of the file");
  name(scenario.head_gain.has_value(), "heads.gain");
  name(scenario.attention.add_bias_kv, "add_bias_kv");
  for (const char* option : set_options(scenario.attention, module_only)) left.emplace_back(option);
  const auto cells = std::ranges::count_if(scenario.edits, [](const CellEdit& edit) { return !of_mask(edit); });
  if (cells > 0) left.push_back(counted(cells, "cell") + " set by hand");
  return left;
}

}  // namespace headwise
