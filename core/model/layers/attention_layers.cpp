#include "core/model/layers/attention_layers.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/config/config_settings.h"
#include "core/model/layers/layer_rows.h"
#include "core/model/layers/layer_tensors.h"
#include "core/model/layers/numbered_name.h"
#include "core/tensor/join.h"

namespace headwise {

std::string layer_array(const AttentionLayer& layer, std::string_view stem, const char* what) {
  return fmt::format("{}{}{}{}", layer.name, layer.name.empty() ? "" : ".", stem, what);
}

namespace {

// Natural sort order of names: runs of digits are numbers.
bool counts_before(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::size_t end_a = i, end_b = j;
      while (end_a < a.size() && digit(a[end_a])) ++end_a;
      while (end_b < b.size() && digit(b[end_b])) ++end_b;
      while (i + 1 < end_a && a[i] == '0') ++i;
      while (j + 1 < end_b && b[j] == '0') ++j;
      if (end_a - i != end_b - j) return end_a - i < end_b - j;
      if (const int order = a.compare(i, end_a - i, b, j, end_b - j); order != 0) return order < 0;
      i = end_a;
      j = end_b;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

std::string_view first_weight(const ModelFamily& family) {
  return family.qkv.empty() ? family.q : family.qkv;
}

// "encoder.layer.0" for "encoder.layer.0.attention.self.query.weight"; nullopt if the name does not match.
std::optional<std::string> prefix_before(const std::string& name, std::string_view stem) {
  const std::string ending = std::string(stem) + "weight";
  if (!name.ends_with(ending)) return std::nullopt;
  const std::string before = name.substr(0, name.size() - ending.size());
  if (before.empty()) return before;
  if (before.back() != '.') return std::nullopt;
  return before.substr(0, before.size() - 1);
}

bool is_matrix(const ArrayInfo* info) {
  return info && info->sizes.size() == 2;
}

// Whether the array's shape fits this family; GPT-2's and nanoGPT's names are the same.
bool has_shape_of(const ModelFamily& family, const ArrayInfo& first) {
  if (first.sizes.size() != 2) return false;
  return family.layout != AttentionLayout::packed_in || first.sizes[1] == 3 * first.sizes[0];
}

void set_heads(AttentionLayer& layer) {
  if (!layer.config) return;
  const ModelConfig& config = *layer.config;
  const bool decoder = layer.name.find("decoder") != std::string::npos;
  layer.num_heads = decoder && config.decoder_heads    ? config.decoder_heads
                    : !decoder && config.encoder_heads ? config.encoder_heads
                                                       : config.num_heads;
  const auto stage = static_cast<std::size_t>(layer.number);
  if (!layer.num_heads && stage < config.heads_by_stage.size())
    layer.num_heads = config.heads_by_stage[stage];
  layer.num_kv_heads = config.num_kv_heads ? config.num_kv_heads : layer.num_heads;
}

// Falcon and GPT-BigCode specify the layout of their single array in config.json, models of core/train whether they have a W_O.
void set_layout(AttentionLayer& layer) {
  layer.layout = layer.family->layout;
  if (!layer.config) return;
  const std::string& type = layer.config->model_type;
  const ConfigSettings settings(layer.config->settings, layer.config->where, "the setting is wrong");
  if (type == "falcon") {
    const bool grouped = settings.flag("new_decoder_architecture", false);
    const bool one_key = !grouped && settings.flag("multi_query", true);
    if (grouped) layer.layout = AttentionLayout::grouped;
    if (one_key) layer.layout = AttentionLayout::packed;
    const Index written = settings.whole("num_kv_heads", 0, Index{1} << 32);
    if (layer.num_heads)
      layer.num_kv_heads = one_key ? 1 : grouped && written > 0 ? written : *layer.num_heads;
  } else if (type == "gpt_bigcode") {
    const bool one_key = settings.flag("multi_query", true);
    layer.layout = one_key ? AttentionLayout::packed : AttentionLayout::interleaved;
    if (layer.num_heads) layer.num_kv_heads = one_key ? Index{1} : *layer.num_heads;
  } else if (type == "headwise") {
    layer.has_output = settings.flag("out_projection", true);
  }
}

// The number after the first component that names a stack, 3 in "0.model.layers.3" and 2 in T5's "encoder.block.2.layer.0"; else the
// first.
Index block_number(const std::string& name) {
  const NumberedName parts = numbered_name(name);
  for (std::size_t i = 0; i < parts.numbers.size(); ++i) {
    const std::string before = "." + parts.between[i];
    for (const char* stack : {".layers.", ".layer.", ".blocks.", ".block.", ".h."})
      if (before.ends_with(stack)) return parts.numbers[i];
  }
  return parts.numbers.empty() ? 0 : parts.numbers[0];
}

// The numbers of rows of q, k and v in their joint array.
void split_packed_rows(AttentionLayer& layer) {
  const Index rows = layer.packed_rows;
  layer.q_rows = layer.k_rows = layer.v_rows = rows / 3;
  if (!layer.num_heads || layer.num_heads == layer.num_kv_heads) return;
  const Index width = rows / (*layer.num_heads + 2 * *layer.num_kv_heads);
  layer.q_rows = *layer.num_heads * width;
  layer.k_rows = layer.v_rows = *layer.num_kv_heads * width;
}

AttentionLayer layer_of(const ModelFamily& family, const std::string& name, const ModelFiles& files,
                        const std::shared_ptr<const ModelConfig>& config) {
  AttentionLayer layer;
  layer.name = name;
  layer.family = &family;
  layer.number = block_number(name);
  layer.is_cross = family.is_cross;
  layer.config = part_of_layer(config, name);
  set_heads(layer);
  set_layout(layer);
  const bool inverted = layer.layout == AttentionLayout::packed_in;
  const auto needs = [&](std::string_view stem) -> const ArrayInfo* {
    const std::string array = layer_array(layer, stem, "weight");
    const ArrayInfo* const info = files.find(array);
    if (!info) layer.missing.push_back(array);
    if (info && !is_matrix(info)) {
      layer.missing.push_back(fmt::format("{} as a matrix, not as ({}),", array, join(info->sizes, ",")));
    }
    return is_matrix(info) ? info : nullptr;
  };
  if (!family.qkv.empty()) {
    if (const ArrayInfo* const packed = needs(family.qkv)) {
      layer.packed_rows = packed->sizes[inverted ? 1 : 0];
      layer.query_width = layer.key_width = packed->sizes[inverted ? 0 : 1];
      split_packed_rows(layer);
    }
    layer.has_bias = files.find(layer_array(layer, family.qkv, "bias")) != nullptr;
  } else {
    const bool in_columns = layer.layout == AttentionLayout::queries_in;
    if (const ArrayInfo* const q = needs(family.q)) {
      layer.q_rows = q->sizes[in_columns ? 1 : 0];
      layer.query_width = q->sizes[in_columns ? 0 : 1];
    }
    if (!family.kv.empty()) {
      if (const ArrayInfo* const kv = needs(family.kv)) {
        layer.k_rows = layer.v_rows = kv->sizes[1] / 2;
        layer.key_width = kv->sizes[0];
      }
    } else {
      if (const ArrayInfo* const k = needs(family.k)) {
        layer.k_rows = k->sizes[0];
        layer.key_width = k->sizes[1];
      }
      if (const ArrayInfo* const v = needs(family.v)) layer.v_rows = v->sizes[0];
    }
    for (const std::string_view stem : {family.q, family.k, family.v, family.kv, family.joint_bias})
      layer.has_bias = layer.has_bias || (!stem.empty() && files.find(layer_array(layer, stem, "bias")));
  }
  if (layer.has_output) {
    needs(family.output);
    layer.has_bias = layer.has_bias || files.find(layer_array(layer, family.output, "bias"));
  }
  account_for_tensors(layer, files);
  return layer;
}

}  // namespace

AttentionLayers find_attention_layers(const ModelFiles& files) {
  AttentionLayers found;
  found.config = read_model_config(files.folder());
  std::map<std::string, AttentionLayer> layers;  // by the name of their first array: a layer has one family
  for (const auto& [name, info] : files.arrays()) {
    // If no family's output projection is present, it is reported missing for the first family.
    const ModelFamily* of = nullptr;
    std::string prefix;
    for (const ModelFamily& family : model_families()) {
      if (!family.model_type.empty() && (!found.config || found.config->model_type != family.model_type))
        continue;
      AttentionLayer named;
      const std::optional<std::string> before = prefix_before(name, first_weight(family));
      if (!before || !has_shape_of(family, info)) continue;
      named.name = *before;
      const bool whole = files.find(layer_array(named, family.output, "weight")) != nullptr;
      if (whole || (!of && !family.needs_output)) {
        of = &family;
        prefix = *before;
      }
      if (whole) break;
    }
    if (of) layers.emplace(name, layer_of(*of, prefix, files, found.config));
  }
  std::vector<LayerName> names;
  for (const auto& [array, layer] : layers) names.push_back({layer.name, layer.family});
  for (const auto& [name, family] : absent_layers(files, names)) {
    AttentionLayer absent = layer_of(*family, name, files, found.config);
    layers.emplace(layer_array(absent, first_weight(*family), "weight"), std::move(absent));
  }
  for (auto& [array, layer] : layers) found.layers.push_back(std::move(layer));
  std::ranges::stable_sort(found.layers, [](const AttentionLayer& a, const AttentionLayer& b) {
    return counts_before(a.name, b.name);
  });
  return found;
}

AttentionLayer with_heads(AttentionLayer layer, Index num_heads, Index num_kv_heads) {
  layer.num_heads = num_heads;
  layer.num_kv_heads = num_kv_heads;
  if (layer.packed_rows > 0) split_packed_rows(layer);
  return layer;
}

std::string layer_problem(const AttentionLayer& layer) {
  if (is_absent(layer)) return "none of its attention arrays is there";
  if (!layer.missing.empty()) {
    return fmt::format("{} {} missing", join(layer.missing, ", "), layer.missing.size() == 1 ? "is" : "are");
  }
  if (!layer.num_heads) return "neither its arrays nor a config.json give its number of heads";
  const Index heads = *layer.num_heads, kv_heads = *layer.num_kv_heads;
  if (heads % kv_heads != 0) return fmt::format("{} key/value heads do not divide {} heads", kv_heads, heads);
  if (layer.packed_rows > 0 && layer.q_rows + layer.k_rows + layer.v_rows != layer.packed_rows)
    return fmt::format("{} rows do not fit q, k and v of {} heads", layer.packed_rows, heads);
  if (layer.q_rows == 0 || layer.q_rows % heads != 0)
    return fmt::format("{} rows of q cannot be split into {} heads", layer.q_rows, heads);
  if (layer.k_rows != layer.q_rows / heads * kv_heads)
    return fmt::format("k has {} rows instead of {}, for {} heads of {}", layer.k_rows,
                       layer.q_rows / heads * kv_heads, kv_heads, layer.q_rows / heads);
  if (layer.v_rows == 0 || layer.v_rows % kv_heads != 0)
    return fmt::format("{} rows of v cannot be split into {} heads", layer.v_rows, kv_heads);
  const Index joined = layer.v_rows / kv_heads * heads;
  if (!layer.has_output && joined != layer.query_width)
    return fmt::format("without W_O its heads, {} columns together, are the output, which has {}", joined,
                       layer.query_width);
  return "";
}

}  // namespace headwise
