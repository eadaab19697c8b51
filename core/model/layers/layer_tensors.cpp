#include "core/model/layers/layer_tensors.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/model/config/model_types.h"
#include "core/model/layers/latent_layers.h"

namespace headwise {
namespace {

// Buffers that are recomputed from config.json, and tensors that are not part of attention: the norms before
// the projections of ESM, Megatron and XLM-RoBERTa-XL and after BERT's output, and what the Japanese GPT-NeoX
// adds along with the residual.
constexpr auto harmless_endings = std::to_array<std::string_view>(
    {"rotary_emb.inv_freq", "rotary_embeddings.inv_freq", "attn.bias", "attn.masked_bias", "attention.bias",
     "attention.masked_bias", "output.LayerNorm.weight", "output.LayerNorm.bias", "attn.embed_positions",
     "attention.dense_bias", "attention.self_attn_layer_norm.weight", "attention.self_attn_layer_norm.bias",
     "attention.ln.weight", "attention.ln.bias", "attention.LayerNorm.weight", "attention.LayerNorm.bias",
     "attention.LayerNorm.gamma", "attention.LayerNorm.beta"});

bool is_harmless(std::string_view name) {
  return std::ranges::any_of(harmless_endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

std::set<std::string> used_names(const AttentionLayer& layer) {
  const ModelFamily& family = *layer.family;
  std::set<std::string> used;
  for (const std::string_view stem : {family.q, family.k, family.v, family.kv, family.qkv,
                                      layer.has_output ? family.output : "", family.joint_bias})
    if (!stem.empty())
      for (const char* what : {"weight", "bias"}) used.insert(layer_array(layer, stem, what));
  if (layer.layout == AttentionLayout::latent)
    for (const LatentArray& array : latent_arrays(layer))
      for (const char* what : {"weight", "bias"}) used.insert(layer_array(layer, array.stem, what));
  used.insert(layer.q_norms.begin(), layer.q_norms.end());
  used.insert(layer.k_norms.begin(), layer.k_norms.end());
  if (!layer.gate.empty()) used.insert({layer.gate + ".weight", layer.gate + ".bias"});
  if (!layer.indexer.empty())
    for (const LayerArray& array : arrays_of_indexer(layer)) used.insert(array.name);
  used.insert(layer.sinks);
  used.insert(layer.relative_bias);
  return used;
}

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

std::string module_of(const AttentionLayer& layer) {
  const std::string before = layer.name.empty() ? "" : layer.name + ".";
  const std::string_view stem = layer.family->first_stem();
  const std::size_t dot = stem.find('.');
  return dot == std::string_view::npos ? before : before + std::string(stem.substr(0, dot + 1));
}

namespace {

// One array of weights, or one for each head (StableLM); none if the module has no norm of this name.
std::vector<std::string> norm_arrays(const ModelFiles& files, const std::string& norm) {
  if (files.find(norm + ".weight")) return {norm + ".weight"};
  std::vector<std::string> names;
  while (files.find(fmt::format("{}.norms.{}.weight", norm, names.size())))
    names.push_back(fmt::format("{}.norms.{}.weight", norm, names.size()));
  return names;
}

// A layer's own table, or that of its stack's first block, which lends it to all others.
void find_relative_bias(AttentionLayer& layer, const ModelFiles& files, const std::string& module) {
  if (layer.family->positions != "relative" && layer.family->name != "Headwise") return;
  const std::string own = module + "relative_attention_bias.weight";
  std::string first = own;
  for (const char* stack : {"block", "layers"}) {
    const std::string block = fmt::format("{}.{}.", stack, layer.number);
    if (const std::size_t at = own.find(block); at != std::string::npos)
      first.replace(at, block.size(), fmt::format("{}.0.", stack));
  }
  layer.relative_bias = files.find(own) ? own : files.find(first) ? first : "";
}

void find_norms_and_sinks(AttentionLayer& layer, const ModelFiles& files, const std::string& module) {
  const ModelType* const type = layer.config ? find_model_type(layer.config->model_type) : nullptr;
  for (const char* const name : {"sinks", "softmax_offset"})
    if (type && type->has_sinks && files.find(module + name)) layer.sinks = module + name;
  if (!type || !type->qk_norm) return;
  for (const auto& [q, k] :
       {std::pair("q_norm", "k_norm"), {"q_layernorm", "k_layernorm"}, {"query_layernorm", "key_layernorm"}}) {
    layer.q_norms = norm_arrays(files, module + q);
    layer.k_norms = norm_arrays(files, module + k);
    if (!layer.q_norms.empty() && !layer.k_norms.empty()) return;
  }
  layer.q_norms.clear();
  layer.k_norms.clear();
}

void find_indexer(AttentionLayer& layer, const ModelFiles& files, const std::string& module) {
  const ModelType* const type = layer.config ? find_model_type(layer.config->model_type) : nullptr;
  if (type && (type->reads & reads::indexer) != 0 && files.find(module + "indexer.wq_b.weight"))
    layer.indexer = module + "indexer";
}

void find_gate(AttentionLayer& layer, const ModelFiles& files, const std::string& module) {
  const ModelType* const type = layer.config ? find_model_type(layer.config->model_type) : nullptr;
  if (!type || type->output_gate != OutputGate::own_array) return;
  for (const char* const name : {"gate_proj", "g_proj", "output_gate"})
    if (files.find(module + name + ".weight")) layer.gate = module + name;
}

}  // namespace

void account_for_tensors(AttentionLayer& layer, const ModelFiles& files) {
  const std::string module = module_of(layer);
  find_norms_and_sinks(layer, files, module);
  find_relative_bias(layer, files, module);
  find_gate(layer, files, module);
  find_indexer(layer, files, module);
  const bool is_torch_module = layer.family->first_stem().find('.') == std::string_view::npos;
  if (is_torch_module) layer.has_bias_kv = files.find(module + "bias_k") && files.find(module + "bias_v");
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

std::vector<std::string> model_notes(const ModelFiles& files, const AttentionLayers& layers) {
  std::vector<std::string> notes = files.warnings();
  const auto sizes_of = [&](const ModelConfig& config) {
    for (const std::string& note : config.invalid_sizes) notes.push_back(note);
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
