#include "core/scenario/layer_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/files/file_paths.h"
#include "core/model/layers/layer_attention.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// Calls f(path, member of a, member of b) for every key that a layer determines.
template <class A, class B, class F>
void for_layer_keys(A& a, B& b, F&& f) {
  f("attention.embed_dim", a.attention.embed_dim, b.attention.embed_dim);
  f("attention.num_heads", a.attention.num_heads, b.attention.num_heads);
  f("attention.num_kv_heads", a.attention.num_kv_heads, b.attention.num_kv_heads);
  f("attention.kdim", a.attention.kdim, b.attention.kdim);
  f("attention.vdim", a.attention.vdim, b.attention.vdim);
  f("attention.head_dim", a.attention.head_dim, b.attention.head_dim);
  f("attention.v_head_dim", a.attention.v_head_dim, b.attention.v_head_dim);
  f("attention.bias", a.attention.bias, b.attention.bias);
  f("attention.add_bias_kv", a.attention.add_bias_kv, b.attention.add_bias_kv);
  f("attention.rotary_base", a.attention.rotary_base, b.attention.rotary_base);
  f("attention.rotary_inverse_frequencies", a.attention.rotary_inverse_frequencies,
    b.attention.rotary_inverse_frequencies);
  f("attention.scale", a.attention.scale, b.attention.scale);
  f("attention.softcap", a.attention.softcap, b.attention.softcap);
  f("attention.clip_qkv", a.attention.clip_qkv, b.attention.clip_qkv);
  f("inputs.self_attention", a.inputs.self_attention, b.inputs.self_attention);
  f("parameters.layout", a.parameters.layout, b.parameters.layout);
  f("mask.is_causal", a.mask.is_causal, b.mask.is_causal);
  f("mask.sliding_window", a.mask.sliding_window, b.mask.sliding_window);
  f("mask.alibi", a.mask.alibi, b.mask.alibi);
  f("mask.alibi_scale", a.mask.alibi_scale, b.mask.alibi_scale);
}

// Keys that only make sense together: if one of them is set, the layer determines neither.
constexpr std::string_view rotary_paths[]{"attention.rotary_base", "attention.rotary_inverse_frequencies"};

bool is_head_size(std::string_view path) {
  return std::ranges::find(head_size_paths, path) != std::end(head_size_paths);
}

// The keys set by the user, in a file or in the window.
std::set<std::string> own_keys_of(const Scenario& scenario) {
  const Scenario defaults;
  const Scenario& base = scenario.origin.layer ? *scenario.origin.layer : defaults;
  std::set<std::string> own;
  for_layer_keys(scenario, base, [&](const char* path, const auto& value, const auto& before) {
    if (scenario.origin.written.contains(path) || value != before) own.insert(path);
  });
  if (std::ranges::any_of(rotary_paths, [&](std::string_view path) { return own.contains(std::string(path)); }))
    own.insert(std::begin(rotary_paths), std::end(rotary_paths));
  return own;
}

struct OpenedLayer {
  std::shared_ptr<const TextModel> model;
  std::string path;
  const AttentionLayer* layer = nullptr;  // null: there is no such layer
};

OpenedLayer opened_layer(const Scenario& scenario) {
  OpenedLayer opened;
  opened.path = path_from(scenario.origin.folder, *scenario.parameters.file);
  opened.model = TextModel::open(opened.path);
  const std::vector<AttentionLayer>& layers = opened.model->layers().layers;
  const std::int64_t number = scenario.parameters.layer;
  if (number >= 0 && number < static_cast<std::int64_t>(layers.size()))
    opened.layer = &layers[static_cast<std::size_t>(number)];
  return opened;
}

bool can_be_computed(const AttentionLayer& layer) {
  return layer.num_heads ? layer_problem(layer).empty() : likeliest_heads(layer).has_value();
}

std::string value_text(bool value) {
  return value ? "true" : "false";
}
std::string value_text(double value) {
  return fmt::format("{}", value);
}
std::string value_text(std::int64_t value) {
  return std::to_string(value);
}
std::string value_text(const std::vector<double>& values) {
  return fmt::format("[{}, …]", values.empty() ? 0.0 : values.front());
}
template <class T>
std::string value_text(const std::optional<T>& value) {
  return value ? value_text(*value) : "null";
}

// The keys that change numbers and in which the scenario differs from the layer. Heads have a sentence of their own.
std::string told_of_differences(const Scenario& scenario, const Scenario& layer) {
  std::vector<std::string> told;
  for_layer_keys(scenario, layer, [&](std::string_view path, const auto& ours, const auto& theirs) {
    if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(ours)>, ProjectionLayout>) {
      const bool size = path.ends_with("dim") || path.ends_with("_heads") || path == "attention.bias";
      const bool by_preset = path == "mask.is_causal" && scenario.mask.preset == "causal";
      if (size || by_preset || ours == theirs) return;
      told.push_back(fmt::format("{} = {} (the layer has {})", path, value_text(ours), value_text(theirs)));
    }
  });
  return told.empty() ? "" : fmt::format("differs from the model's layer: {}", join(told, ", "));
}

}  // namespace

bool is_layer_key(std::string_view path) {
  const Scenario scenario;
  bool found = false;
  for_layer_keys(scenario, scenario,
                 [&](std::string_view key, const auto&, const auto&) { found |= key == path; });
  return found;
}

void copy_layer_keys(const Scenario& from, Scenario& to, const std::set<std::string>& kept) {
  for_layer_keys(to, from, [&](const char* path, auto& value, const auto& other) {
    if (!kept.contains(path)) value = other;
  });
}

Scenario with_layer_values(const Scenario& scenario) {
  if (scenario.op != Op::multi_head_attention || !is_of_model(scenario)) return scenario;
  const OpenedLayer opened = opened_layer(scenario);
  if (opened.layer == nullptr || !can_be_computed(*opened.layer)) return scenario;
  const Scenario layer = layer_scenario(opened.path, opened.model->layers(), scenario.parameters.layer);
  std::set<std::string> own = own_keys_of(scenario);
  // An unknown number of heads is not assumed if the user set key/value heads.
  if (!opened.layer->num_heads && std::ranges::any_of(own, is_head_size)) own.insert(num_heads_path);
  Scenario filled = scenario;
  const bool other_heads = own.contains(num_heads_path) && std::ranges::none_of(own, is_head_size);
  if (other_heads) own.insert(head_size_paths.begin(), head_size_paths.end());
  copy_layer_keys(layer, filled, own);
  if (other_heads) {
    if (const auto choice = choice_of_heads(*opened.layer, filled.attention.num_heads))
      set_heads(filled.attention, *choice);
  }
  filled.origin.layer = std::make_shared<const Scenario>(layer);
  return filled;
}

LayerNotes notes_on_layer(const Scenario& scenario, std::int64_t tokens) {
  LayerNotes notes;
  if (scenario.op != Op::multi_head_attention || !is_of_model(scenario)) return notes;
  const OpenedLayer opened = opened_layer(scenario);
  if (opened.layer == nullptr || !can_be_computed(*opened.layer)) return notes;
  const AttentionLayer layer = layer_of_scenario(scenario, opened.path, opened.model->layers());
  if (!layer_problem(layer).empty()) return notes;
  LayerAttention attention = layer_attention(layer);
  notes.not_computed = std::move(attention.warnings);
  for (LengthLimit& limit : attention.limits)
    if (tokens > limit.tokens) notes.not_computed.push_back(std::move(limit.beyond));
  notes.differences = told_of_differences(
      scenario, layer_scenario(opened.path, opened.model->layers(), scenario.parameters.layer));
  return notes;
}

}  // namespace headwise
