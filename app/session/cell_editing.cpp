#include "app/session/cell_editing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

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

// Whether the arrays that the parameters come from are not those of the other operator.
bool loses_parameters(const Scenario& scenario, Op op) {
  const ParameterSource source = scenario.parameters.source;
  return source != ParameterSource::random && (projects(op) || source != ParameterSource::hand_made);
}

// Sizes that follow from others with latents.
constexpr std::array sizes_without_latents{std::pair("num_kv_heads", &AttentionSpec::num_kv_heads),
                                           std::pair("head_dim", &AttentionSpec::head_dim),
                                           std::pair("vdim", &AttentionSpec::vdim)};

// True blocks a pair in multi_head_attention and lets it take part in scaled_dot_product_attention. An
// attn_mask from a file keeps its own numbers, and the edits of them.
void turn_painted_pairs(Scenario& scenario) {
  if (scenario.mask.file) return;
  for (CellEdit& edit : scenario.edits)
    if (edit.tensor == "attn_mask" && (edit.value == 0.0 || edit.value == 1.0)) edit.value = 1.0 - edit.value;
}

// What of the scenario `op` has no place for: visit(name, member, what it is where there is none).
template <class AnyScenario, class Visit>
void visit_dropped(AnyScenario& scenario, Op op, const Visit& visit) {
  static const Scenario none;
  if (!projects(op)) visit("heads.gain", scenario.head_gain, none.head_gain);
  const auto drop = [&](const char* name, auto member) {
    visit(name, scenario.attention.*member, none.attention.*member);
  };
  if (op != Op::multi_head_attention) drop("add_bias_kv", &AttentionSpec::add_bias_kv);
  for_options_with<AttentionSpec>(!projects(op)   ? module_only
                                  : is_latent(op) ? not_latent
                                                  : latent_only,
                                  [&](const OptionRow& row, auto member) { drop(row.key, member); });
  if (!is_latent(op)) return;
  for (const auto& [name, member] : sizes_without_latents) drop(name, member);
  drop("rotary_inverse_frequencies", &AttentionSpec::rotary_inverse_frequencies);  // of wider heads
}

// What the operator has no place for goes; latents that it needs come, in a head as wide as it was.
void make_room(Scenario& scenario, Op op) {
  visit_dropped(scenario, op, [](const char*, auto& value, const auto& none) { value = none; });
  if (!is_latent(op)) return;
  AttentionSpec& a = scenario.attention;
  const Index width = std::max<Index>(a.embed_dim / std::max<Index>(a.num_heads, 1), 3);
  a.qk_rope_head_dim = std::max<Index>(width / 8 * 2, 2);
  a.qk_nope_head_dim = width - *a.qk_rope_head_dim;
  a.kv_lora_rank = std::max<Index>(a.embed_dim / 4, 1);
  if (scenario.mask.indexer) a.q_lora_rank = std::max<Index>(a.embed_dim / 2, 1);  // it reads compressed_q
  if (a.rotary_base) return;
  a.rotary_base = 10000.0;
  a.rotary_pairs = RotaryPairs::neighbours;
}

// Whether `now` still is the scenario that the switch left, with edits that its operator allows.
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

Scenario with_operator(const Scenario& scenario, Op op, const std::optional<OperatorSwitch>& left) {
  Scenario to = scenario;
  to.op = op;
  make_room(to, op);
  if (loses_parameters(scenario, op)) to.parameters.source = ParameterSource::random;
  // Arrays of the other operator have other axes.
  std::erase_if(to.edits, [](const CellEdit& edit) { return !of_mask(edit); });
  if (projects(op) != projects(scenario.op)) turn_painted_pairs(to);
  if (!left || left->before.op != op || !belongs(*left, scenario)) return to;
  const Scenario& before = left->before;
  AttentionSpec& a = to.attention;
  const auto restore = [&](auto member) {
    if (scenario.attention.*member == left->after.attention.*member) a.*member = before.attention.*member;
  };
  visit_layer_options([&](const OptionRow&, auto member, const auto&...) { restore(member); });
  restore(&AttentionSpec::add_bias_kv);
  restore(&AttentionSpec::rotary_inverse_frequencies);
  for (const auto& [name, member] : sizes_without_latents) restore(member);
  if (a.num_heads != before.attention.num_heads || a.embed_dim != before.attention.embed_dim) return to;
  to.head_gain = before.head_gain;
  to.parameters.source = before.parameters.source;
  for (const CellEdit& edit : before.edits)
    if (!of_mask(edit)) to.edits.push_back(edit);
  return to;
}

Scenario with_operator(const Scenario& scenario, Op op, std::vector<OperatorSwitch>& made) {
  const auto last = [&](const auto& fits) {
    const auto found = std::ranges::find_if(made.rbegin(), made.rend(), fits);
    return found == made.rend() ? std::nullopt : std::optional(*found);
  };
  const std::optional<OperatorSwitch> left =
      last([&](const OperatorSwitch& each) { return each.before.op == op; });
  Scenario from = scenario;
  if (left && left->after.op != scenario.op)
    from = with_operator(scenario, left->after.op, last([&](const OperatorSwitch& each) {
                           return each.before.op == left->after.op && each.after.op == scenario.op;
                         }));
  Scenario to = with_operator(from, op, left);
  std::erase_if(
      made, [&](const OperatorSwitch& each) { return each.before.op == scenario.op && each.after.op == op; });
  made.push_back({scenario, to});
  return to;
}

std::vector<std::string> dropped_by_operator(const Scenario& scenario, Op op) {
  std::vector<std::string> left;
  if (loses_parameters(scenario, op))
    left.push_back(scenario.parameters.source == ParameterSource::hand_made ? "the hand-made heads"
                   : scenario.parameters.source == ParameterSource::model   ? "the parameters of the model"
                                                                            : "the parameters of the file");
  visit_dropped(scenario, op, [&](const char* name, const auto& value, const auto& none) {
    if (value != none) left.emplace_back(name);
  });
  const auto cells = std::ranges::count_if(scenario.edits, [](const CellEdit& edit) { return !of_mask(edit); });
  if (cells > 0) left.push_back(counted(cells, "cell") + " set by hand");
  return left;
}

}  // namespace headwise
