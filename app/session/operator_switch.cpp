#include "app/session/operator_switch.h"
#include "core/tensor/join.h"

#include <fmt/format.h>

#include <algorithm>

namespace headwise {
namespace {

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
  to.op = Op::multi_head_attention;
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

std::vector<std::string> left_by_switch(const Scenario& scenario) {
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
