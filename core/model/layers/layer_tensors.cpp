#include "core/model/layers/layer_tensors.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace headwise {
namespace {

// Buffers that are recomputed from config.json, and tensors that are not part of attention: the norms before
// the projections of ESM, Megatron and XLM-RoBERTa-XL and after BERT's output, and what the Japanese GPT-NeoX
// adds along with the residual.
constexpr std::array<std::string_view, 18> harmless_endings{"rotary_emb.inv_freq",
                                                            "rotary_embeddings.inv_freq",
                                                            "attn.bias",
                                                            "attn.masked_bias",
                                                            "attention.bias",
                                                            "attention.masked_bias",
                                                            "output.LayerNorm.weight",
                                                            "output.LayerNorm.bias",
                                                            "attn.embed_positions",
                                                            "attention.dense_bias",
                                                            "attention.self_attn_layer_norm.weight",
                                                            "attention.self_attn_layer_norm.bias",
                                                            "attention.ln.weight",
                                                            "attention.ln.bias",
                                                            "attention.LayerNorm.weight",
                                                            "attention.LayerNorm.bias",
                                                            "attention.LayerNorm.gamma",
                                                            "attention.LayerNorm.beta"};

bool is_harmless(std::string_view name) {
  return std::ranges::any_of(harmless_endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

std::string_view first_stem(const ModelFamily& family) {
  return family.qkv.empty() ? family.q : family.qkv;
}

std::set<std::string> used_names(const AttentionLayer& layer) {
  const ModelFamily& family = *layer.family;
  std::set<std::string> used;
  for (const std::string_view stem : {family.q, family.k, family.v, family.kv, family.qkv,
                                      layer.has_output ? family.output : "", family.joint_bias})
    if (!stem.empty())
      for (const char* what : {"weight", "bias"}) used.insert(layer_array(layer, stem, what));
  return used;
}

}  // namespace

std::string module_of(const AttentionLayer& layer) {
  const std::string before = layer.name.empty() ? "" : layer.name + ".";
  const std::string_view stem = first_stem(*layer.family);
  const std::size_t dot = stem.find('.');
  return dot == std::string_view::npos ? before : before + std::string(stem.substr(0, dot + 1));
}

void account_for_tensors(AttentionLayer& layer, const ModelFiles& files) {
  const std::string module = module_of(layer);
  const bool is_torch_module = first_stem(*layer.family).find('.') == std::string_view::npos;
  if (is_torch_module) {
    layer.has_bias_kv = files.find(module + "bias_k") && files.find(module + "bias_v");
  }
  const std::set<std::string> used = used_names(layer);
  const auto& arrays = files.arrays();
  for (auto at = arrays.lower_bound(module); at != arrays.end() && at->first.starts_with(module); ++at) {
    const std::string_view name = std::string_view(at->first).substr(module.size());
    // A module without a name of its own is next to other modules of the file, whose names contain dots.
    if (is_torch_module && name.find('.') != std::string_view::npos && layer.name.empty()) continue;
    if (layer.has_bias_kv && (name == "bias_k" || name == "bias_v")) continue;
    if (!used.contains(at->first) && !is_harmless(at->first)) layer.unused_tensors.push_back(at->first);
  }
}

}  // namespace headwise
