#include "core/model/layers/model_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/model/layers/layer_tensors.h"

namespace headwise {
namespace {

// "q_proj" in "…self_attn.q_proj.weight" and in wrapped or quantised names:
// "…self_attn.q_proj.base_layer.weight".
std::string_view last_word(std::string_view name) {
  for (const std::string_view ending :
       {".weight", ".qweight", ".lora_A", ".base_layer", ".linear", ".convolution"})
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// Whether it is a matrix of queries, alone or with keys and values, in an attention module,
// by the names that many programs use.
bool looks_like_queries(std::string_view name, const ArrayInfo& info) {
  if (info.sizes.size() < 2 || name.ends_with("bias")) return false;
  const std::string_view word = last_word(name);
  constexpr std::array<std::string_view, 6> exact{"q",       "Wq", "c_attn", "in_proj", "in_proj_weight",
                                                  "att_proj"};
  constexpr std::array<std::string_view, 5> inside{"qkv", "query", "queries", "wq", "kv_proj"};
  const bool queries =
      word.starts_with("q_") || word.ends_with("_q") || std::ranges::find(exact, word) != exact.end() ||
      std::ranges::any_of(inside,
                          [&](std::string_view part) { return word.find(part) != std::string_view::npos; });
  const std::string_view before = name.substr(0, static_cast<std::size_t>(word.data() - name.data()));
  // These names are used for nothing else, whatever the module is called: "mixer.q_proj".
  const bool surely =
      word == "q_proj" || word == "queries_keys_values" || word.find("qkv") != std::string_view::npos;
  return surely || (queries && (before.find("att") != std::string_view::npos ||
                                before.find("Attention") != std::string_view::npos));
}

}  // namespace

std::vector<std::string> model_notes(const ModelFiles& files, const AttentionLayers& layers) {
  std::vector<std::string> notes = files.warnings();
  const auto sizes_of = [&](const ModelConfig& config) {
    for (const std::string& told : config.not_sizes) notes.push_back(told);
  };
  if (layers.config) {
    sizes_of(*layers.config);
    for (const auto& [key, part] : layers.config->parts) sizes_of(*part);
  }
  std::vector<std::string> modules;
  for (const AttentionLayer& layer : layers.layers) modules.push_back(module_of(layer));
  std::string first;
  std::size_t others = 0;
  for (const auto& [name, info] : files.arrays()) {
    if (!looks_like_queries(name, info)) continue;
    if (std::ranges::any_of(modules, [&](const std::string& module) { return name.starts_with(module); }))
      continue;
    if (first.empty())
      first = name;
    else
      ++others;
  }
  if (!first.empty()) {
    const std::string more = others == 0   ? ""
                             : others == 1 ? " and 1 more matrix"
                                           : fmt::format(" and {} more matrices", others);
    notes.push_back(fmt::format("{}{}: attention under unknown names, not listed as a layer", first, more));
  }
  return notes;
}

}  // namespace headwise
