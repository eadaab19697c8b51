#include "core/model/layers/latent_layers.h"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/model/files/model_json.h"

namespace headwise {
namespace {

constexpr Index most_width = Index{1} << 32;

// "self_attn.", in which all its arrays are.
std::string module_of_latents(const AttentionLayer& layer) {
  return std::string(layer.family->kv.substr(0, layer.family->kv.rfind('.', layer.family->kv.size() - 2) + 1));
}

}  // namespace

Index qk_nope_head_dim(const AttentionLayer& layer) {
  if (layer.layout != AttentionLayout::latent || !layer.num_heads) return 0;
  return layer.q_rows / *layer.num_heads - layer.qk_rope_head_dim;
}

std::vector<LatentArray> latent_arrays(const AttentionLayer& layer) {
  const std::string module = module_of_latents(layer);
  std::vector<LatentArray> arrays{{std::string(layer.family->kv), "kv_a_proj_with_mqa.weight", true},
                                  {module + "kv_a_layernorm.", "kv_a_layernorm.weight"},
                                  {module + "kv_b_proj.", "kv_b_proj.weight"}};
  if (layer.has_output) arrays.push_back({std::string(layer.family->output), "out_proj.weight", true});
  if (layer.q_lora_rank == 0) {
    arrays.push_back({module + "q_proj.", "q_proj_weight"});
    return arrays;
  }
  arrays.push_back({module + "q_a_proj.", "q_a_proj.weight", true});
  arrays.push_back({module + "q_a_layernorm.", "q_a_layernorm.weight"});
  arrays.push_back({module + "q_b_proj.", "q_b_proj.weight"});
  return arrays;
}

std::vector<LayerArray> arrays_of_latents(const AttentionLayer& layer) {
  const Index E = layer.query_width, W = layer.key_width, Q = layer.q_rows, V = layer.v_rows;
  const Index C = layer.kv_lora_rank, Cq = layer.q_lora_rank, R = layer.qk_rope_head_dim;
  const std::map<std::string_view, std::vector<Index>> sizes{{"q_proj_weight", {Q, E}},
                                                             {"q_a_proj.weight", {Cq, E}},
                                                             {"q_a_layernorm.weight", {Cq}},
                                                             {"q_b_proj.weight", {Q, Cq}},
                                                             {"kv_a_proj_with_mqa.weight", {C + R, W}},
                                                             {"kv_a_layernorm.weight", {C}},
                                                             {"kv_b_proj.weight", {layer.kv_b_rows, C}},
                                                             {"out_proj.weight", {E, V}}};
  std::vector<LayerArray> arrays;
  for (const LatentArray& array : latent_arrays(layer)) {
    const std::vector<Index>& own = sizes.at(array.parameter);
    arrays.push_back({layer_array(layer, array.stem, "weight"), own});
    if (array.has_bias) arrays.push_back({layer_array(layer, array.stem, "bias"), {own[0]}, true});
  }
  return arrays;
}

std::optional<Indexer> indexer_sizes(const AttentionLayer& layer) {
  if (layer.indexer.empty()) return std::nullopt;
  const auto rows = [&](const char* array) {
    const auto at = layer.arrays.find(layer.indexer + array);
    return at == layer.arrays.end() || at->second.sizes.empty() ? 0 : at->second.sizes[0];
  };
  return Indexer{.heads = rows(".weights_proj.weight"), .width = rows(".wk.weight")};
}

std::vector<LayerArray> arrays_of_indexer(const AttentionLayer& layer) {
  const Indexer sizes = indexer_sizes(layer).value_or(Indexer{});
  const Index W = sizes.width, source = layer.q_lora_rank > 0 ? layer.q_lora_rank : layer.query_width;
  return {{layer.indexer + ".wq_b.weight", {sizes.heads * W, source}},
          {layer.indexer + ".wk.weight", {W, layer.key_width}},
          {layer.indexer + ".k_norm.weight", {W}},
          {layer.indexer + ".k_norm.bias", {W}, true},
          {layer.indexer + ".weights_proj.weight", {sizes.heads, layer.query_width}}};
}

void split_latent_rows(AttentionLayer& layer) {
  layer.k_rows = layer.q_rows;
  if (!layer.num_heads) return;
  layer.num_kv_heads = layer.num_heads;
  layer.v_rows = layer.kv_b_rows - *layer.num_heads * qk_nope_head_dim(layer);
}

void set_latents(AttentionLayer& layer, const ModelFiles& files, const NeededArray& needs) {
  const std::string module = module_of_latents(layer);
  const ArrayInfo* const q_a = files.find(layer_array(layer, module + "q_a_proj.", "weight"));
  if (q_a && q_a->sizes.size() == 2) {
    layer.q_lora_rank = q_a->sizes[0];
    layer.query_width = q_a->sizes[1];
  }
  const bool compressed = layer.q_lora_rank > 0;
  if (const ArrayInfo* const q = needs(module + (compressed ? "q_b_proj." : "q_proj."))) {
    layer.q_rows = q->sizes[0];
    if (!compressed) layer.query_width = q->sizes[1];
  }
  const ArrayInfo *const kv_a = needs(layer.family->kv), *const kv_b = needs(module + "kv_b_proj.");
  if (!kv_a || !kv_b) return;
  layer.key_width = kv_a->sizes[1];
  layer.kv_lora_rank = kv_b->sizes[1];
  layer.qk_rope_head_dim = kv_a->sizes[0] - kv_b->sizes[1];
  layer.kv_b_rows = kv_b->sizes[0];
  split_latent_rows(layer);
  for (const LatentArray& array : latent_arrays(layer)) {
    const bool has_bias = array.has_bias && files.find(layer_array(layer, array.stem, "bias"));
    layer.has_bias = layer.has_bias || has_bias;
  }
}

std::string indexer_contradiction(const AttentionLayer& layer) {
  if (layer.indexer.empty()) return "";
  for (const LayerArray& array : arrays_of_indexer(layer))
    if (!array.is_bias && !layer.arrays.contains(array.name)) return array.name + " is missing";
  const Indexer there = *indexer_sizes(layer);
  const JsonValue settings(*layer.config->settings, layer.config->where, config_format);
  for (const auto& [key, size] : {std::pair("index_n_heads", there.heads), {"index_head_dim", there.width}})
    if (const Index said = settings.whole(key, size, most_width); said != size)
      return fmt::format("the arrays of its indexer give {} = {}, but config.json gives {}", key, size, said);
  return "";
}

std::string latent_contradiction(const AttentionLayer& layer) {
  const Index heads = *layer.num_heads;
  const auto of_head = [&](Index rows) { return rows % heads == 0 ? rows / heads : -1; };
  const Index D = of_head(layer.q_rows), Dv = of_head(layer.v_rows), Dn = D - layer.qk_rope_head_dim;
  if (D < 0 || Dv <= 0 || Dn < 1 || layer.qk_rope_head_dim < 1)
    return fmt::format("{} rows of q, {} of kv_b_proj and {} columns of k_rot do not fit {} heads",
                       layer.q_rows, layer.kv_b_rows, layer.qk_rope_head_dim, heads);
  if (!layer.config) return "";
  const JsonValue settings(*layer.config->settings, layer.config->where, config_format);
  for (const auto& [key, there] : {std::pair("kv_lora_rank", layer.kv_lora_rank),
                                   {"q_lora_rank", layer.q_lora_rank},
                                   {"qk_rope_head_dim", layer.qk_rope_head_dim},
                                   {"qk_nope_head_dim", Dn},
                                   {"v_head_dim", Dv}})
    if (const Index said = settings.whole(key, there, most_width); said != there)
      return fmt::format("its arrays give {} = {}, but config.json gives {}", key, there, said);
  return "";
}

}  // namespace headwise
