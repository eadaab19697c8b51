#include "core/model/model_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/model/layer_tensors.h"

namespace headwise {
namespace {

// "q_proj" of "…self_attn.q_proj.weight".
std::string_view last_word(std::string_view name) {
  constexpr std::string_view weight = ".weight";
  if (name.ends_with(weight)) name.remove_suffix(weight.size());
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// A matrix of queries, alone or together with keys and values, in a module of attention, as the many programs name them.
bool looks_like_queries(std::string_view name, const ArrayInfo& info) {
  if (info.sizes.size() < 2 || name.ends_with("bias")) return false;
  const std::string_view word = last_word(name);
  constexpr std::array<std::string_view, 4> exact{"Wq", "wq", "c_attn", "in_proj_weight"};
  constexpr std::array<std::string_view, 3> inside{"qkv", "query", "in_proj_qkv"};
  const bool queries = word.starts_with("q_") || word == "q" || word.ends_with("_q") ||
                       std::ranges::find(exact, word) != exact.end() ||
                       std::ranges::any_of(inside, [&](std::string_view part) {
                         return word.find(part) != std::string_view::npos;
                       });
  if (!queries) return false;
  const std::string_view before = name.substr(0, static_cast<std::size_t>(word.data() - name.data()));
  constexpr std::array<std::string_view, 4> modules{"att", "Attention", "mixer", "temporal_block"};
  return std::ranges::any_of(
      modules, [&](std::string_view module) { return before.find(module) != std::string_view::npos; });
}

}  // namespace

std::vector<std::string> model_notes(const ModelFiles& files, const AttentionLayers& layers) {
  std::vector<std::string> notes;
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
    notes.push_back(fmt::format("{}{} of attention that Headwise does not know by {}: it is no layer here",
                                first,
                                others == 0   ? " is"
                                : others == 1 ? " and 1 more matrix are"
                                              : fmt::format(" and {} more matrices are", others),
                                others == 0 ? "its name" : "their names"));
  }
  return notes;
}

}  // namespace headwise
