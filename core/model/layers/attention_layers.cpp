#include "core/model/layers/attention_layers.h"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files/element_type.h"
#include "core/files/word_rows.h"
#include "core/model/config/model_types.h"
#include "core/model/files/model_json.h"
#include "core/model/layers/latent_layers.h"
#include "core/model/layers/layer_rows.h"
#include "core/model/layers/layer_tensors.h"
#include "core/tensor/join.h"

namespace headwise {

std::string_view embedded_model_families();

namespace {

using enum AttentionLayout;

template <AttentionLayout choice>
constexpr auto layout = chosen<&ModelFamily::layout, choice>;

constexpr FieldWord<ModelFamily> family_words[]{{"separate", layout<separate>},
                                                {"packed", layout<packed>},
                                                {"packed_in", layout<packed_in>},
                                                {"interleaved", layout<interleaved>},
                                                {"queries_in", layout<queries_in>},
                                                {"grouped", layout<grouped>},
                                                {"latent", layout<latent>},
                                                {"name", field<&ModelFamily::name>},
                                                {"q", field<&ModelFamily::q>},
                                                {"k", field<&ModelFamily::k>},
                                                {"v", field<&ModelFamily::v>},
                                                {"kv", field<&ModelFamily::kv>},
                                                {"qkv", field<&ModelFamily::qkv>},
                                                {"output", field<&ModelFamily::output>},
                                                {"joint_bias", field<&ModelFamily::joint_bias>},
                                                {"causal", field<&ModelFamily::is_causal>},
                                                {"cross", field<&ModelFamily::is_cross>},
                                                {"unscaled", chosen<&ModelFamily::scales, false>},
                                                {"needs_output", field<&ModelFamily::needs_output>},
                                                {"model_type", field<&ModelFamily::model_type>},
                                                {"positions", field<&ModelFamily::positions>}};

std::vector<ModelFamily> read_families() {
  std::vector<ModelFamily> families;
  for (const WordRow& row : word_rows(embedded_model_families(), "families.txt")) {
    families.push_back({.name = row.key});
    read_fields(row.value, families.back(), family_words, "families.txt", row.key);
  }
  return families;
}

// Under their names in the file, with the sizes that the layer's numbers of rows and heads ask for.
std::vector<LayerArray> arrays_of_layer(const AttentionLayer& layer) {
  const ModelFamily& family = *layer.family;
  const Index E = layer.query_width, W = layer.key_width;
  const Index Q = layer.q_rows, K = layer.k_rows, V = layer.v_rows, R = layer.packed_rows;
  const bool transposed =
      layer.layout == AttentionLayout::packed_in || layer.layout == AttentionLayout::queries_in;
  const bool latents = layer.layout == latent;
  std::vector<LayerArray> arrays;
  if (latents) arrays = arrays_of_latents(layer);
  const auto add = [&](std::string_view stem, Index out, Index in) {
    const std::vector<Index> sizes = transposed ? std::vector{in, out} : std::vector{out, in};
    arrays.push_back({layer_array(layer, stem, "weight"), sizes});
    arrays.push_back({layer_array(layer, stem, "bias"), {out}, true});
  };
  if (!family.qkv.empty()) {
    add(family.qkv, R, E);
  } else if (!latents) {
    add(family.q, layer.gate_in_q ? 2 * Q : Q, E);
    if (family.kv.empty()) {
      add(family.k, K, W);
      add(family.v, V, W);
    } else {
      add(family.kv, K + V, W);
    }
    if (!family.joint_bias.empty())
      arrays.push_back({layer_array(layer, family.joint_bias, "bias"), {Q + K + V}, true});
  }
  if (layer.has_output && !latents)
    add(family.output, E, layer.num_heads ? V / *layer.num_kv_heads * *layer.num_heads : V);
  if (layer.has_bias_kv) {
    arrays.push_back({layer_array(layer, "bias_k", ""), {1, 1, K}});
    arrays.push_back({layer_array(layer, "bias_v", ""), {1, 1, V}});
  }
  if (!layer.gate.empty()) {
    const auto at = layer.arrays.find(layer.gate + ".weight");
    const Index heads = layer.num_heads.value_or(0);
    const bool by_head = at != layer.arrays.end() && at->second.sizes == std::vector{heads, E};
    const Index rows = by_head || heads == 0 ? heads : V / *layer.num_kv_heads * heads;
    arrays.push_back({layer.gate + ".weight", {rows, E}});
    arrays.push_back({layer.gate + ".bias", {rows}, true});
  }
  if (!layer.relative_bias.empty() && layer.num_heads)
    arrays.push_back({layer.relative_bias, {relative_buckets_of(layer), *layer.num_heads}});
  if (!layer.indexer.empty())
    for (LayerArray& array : arrays_of_indexer(layer)) arrays.push_back(std::move(array));
  if (!layer.sinks.empty() && layer.num_heads) arrays.push_back({layer.sinks, {*layer.num_heads}});
  if (!layer.q_norms.empty() && layer.num_heads) {
    const Index heads = *layer.num_heads, kv_heads = *layer.num_kv_heads, D = Q / std::max<Index>(heads, 1);
    const bool whole = find_model_type(layer.config->model_type)->qk_norm == QkNorm::whole;
    const auto add_norms = [&](const std::vector<std::string>& names, Index rows, Index count) {
      for (const std::string& name : names) {
        const auto at = layer.arrays.find(name);
        const bool by_head = at != layer.arrays.end() && at->second.sizes.size() == 2;
        arrays.push_back({name, whole     ? std::vector{rows}
                                : by_head ? std::vector{count, D}
                                          : std::vector{D}});
      }
    };
    add_norms(layer.q_norms, Q, heads);
    add_norms(layer.k_norms, K, kv_heads);
  }
  return arrays;
}

// The first of these that is there with other sizes, or whose numbers are not floating-point, a sentence;
// empty if all can be read. Sizes are only checked if the number of heads is known.
std::string problem_of_types(const AttentionLayer& layer) {
  for (const auto& [name, info] : layer.arrays)
    if (!holds_floats(info.stored_dtype))
      return fmt::format("{} has numbers of type {}, not f16, bf16, f32 or f64", name, info.stored_dtype);
  return "";
}

std::string problem_of_sizes(const AttentionLayer& layer) {
  for (const LayerArray& array : arrays_of_layer(layer)) {
    const auto at = layer.arrays.find(array.name);
    if (at != layer.arrays.end() && at->second.sizes != array.sizes)
      return fmt::format("{} is ({}) instead of ({})", array.name, join(at->second.sizes, ","),
                         join(array.sizes, ","));
  }
  return "";
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

// Whether the array's shape fits this family; GPT-2's and nanoGPT's names are the same. With pruned heads it
// is W_O that tells.
bool has_shape_of(const ModelFamily& family, const ArrayInfo& first, const ArrayInfo* output) {
  if (first.sizes.size() != 2) return false;
  if (family.layout != AttentionLayout::packed_in) return true;
  const Index in = first.sizes[0], out = first.sizes[1];
  return out == 3 * in || (out % 3 == 0 && output && output->sizes == std::vector{out / 3, in});
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
  // Step-3.5: layers with a window have a number of heads of their own.
  const JsonValue settings(*config.settings, config.where, config_format);
  if (!settings.has("num_sliding_attention_heads")) return;
  const Json& kinds = settings.at("layer_types");
  if (kinds.is_array() && stage < kinds.size() && kinds[stage] == "sliding_attention")
    layer.num_heads = settings.whole("num_sliding_attention_heads", 0, Index{1} << 32);
}

// Falcon and GPT-BigCode specify the layout of their single array in config.json,
// models of core/train whether they have a W_O.
void set_layout(AttentionLayer& layer) {
  layer.layout = layer.family->layout;
  if (!layer.config) return;
  const std::string& type = layer.config->model_type;
  const JsonValue settings(*layer.config->settings, layer.config->where, config_format);
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

// The number after the first component that names a stack, 3 in "0.model.layers.3" and 2 in T5's
// "encoder.block.2.layer.0"; else the first.
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

// Sets head_dim and hidden_size, which a model is made with, unless config.json leaves them open.
void set_widths(AttentionLayer& layer) {
  if (!layer.config) return;
  const ModelConfig& config = *layer.config;
  const ModelType* const type = find_model_type(config.model_type);
  // A type that is not known may compute its widths in another way, and each stage of Swin has its own: only
  // what is written counts.
  const bool unknown = !type && !(config.model_type.empty() && config.whole_type.empty());
  const bool reads_head_dim = !type || (type->reads & reads::head_dim) != 0;
  if (reads_head_dim) layer.head_dim = config.head_dim;
  if (unknown || !config.heads_by_stage.empty()) return;
  const bool in_decoder = layer.name.find("decoder") != std::string::npos;
  layer.hidden_size = in_decoder && config.decoder_dim ? config.decoder_dim : config.embed_dim;
  if (layer.layout == latent) return;  // the widths of its heads have keys of their own
  if (layer.head_dim || !layer.num_heads) return;
  const bool is_written = config.settings->contains("head_dim") || config.settings->contains("d_kv");
  if (type && type->usual_head_dim > 0 && !is_written)
    layer.head_dim = type->usual_head_dim;
  else if (layer.hidden_size && (type || layer.family->positions != "relative"))
    layer.head_dim = *layer.hidden_size / *layer.num_heads;
}

// The rows of the queries, or of all three in one array, and how many of them `heads` heads have.
std::pair<Index, Index> rows_and_wanted(const AttentionLayer& layer, Index heads, Index kv_heads) {
  const bool packed = layer.packed_rows > 0;
  return {packed ? layer.packed_rows : layer.q_rows,
          (packed ? heads + 2 * kv_heads : heads) * layer.head_dim.value_or(0)};
}

// {"3": [0, 5]}: layer 3 has lost two of its heads, whose rows are not in the file.
void set_pruned_heads(AttentionLayer& layer) {
  if (!layer.head_dim || !layer.num_heads || *layer.num_heads != *layer.num_kv_heads) return;
  const JsonValue settings(*layer.config->settings, layer.config->where, config_format);
  const Json& list = settings["pruned_heads"].at(std::to_string(layer.number));
  if (!list.is_array()) return;
  std::set<Index> pruned;
  for (const Json& head : list)
    if (head.is_number_unsigned() && head.get<std::uint64_t>() < static_cast<std::uint64_t>(*layer.num_heads))
      pruned.insert(head.get<Index>());
  const Index left = *layer.num_heads - std::ssize(pruned);
  const auto [rows, wanted] = rows_and_wanted(layer, left, left);
  if (pruned.empty() || left == 0 || rows != wanted) return;
  layer.num_heads = layer.num_kv_heads = left;
  layer.has_pruned_heads = true;
}

// Where the rows of q are not those of config.json.
std::string head_dim_contradiction(const AttentionLayer& layer) {
  if (!layer.head_dim) return "";
  const Index heads = *layer.num_heads, kv_heads = *layer.num_kv_heads, D = *layer.head_dim;
  const auto [rows, wanted] = rows_and_wanted(layer, heads, kv_heads);
  if (rows == wanted) return "";
  const bool packed = layer.packed_rows > 0;
  std::string text = fmt::format("{} {} rows instead of {}: config.json gives {} heads",
                                 packed ? "q, k and v have" : "q has", rows, wanted, heads);
  if (packed && kv_heads != heads) text += fmt::format(" ({} for k and v)", kv_heads);
  text += fmt::format(" of {}", D);
  if (layer.config->head_dim == D)
    text += layer.config->settings->contains("head_dim") ? " (head_dim)" : " (d_kv)";
  const ModelType* const type = find_model_type(layer.config->model_type);
  if (type && !layer.config->head_dim && type->usual_head_dim == D)
    text += fmt::format(", the default of {}", type->name);
  if (rows < wanted && rows > 0 && D > 0 && rows % D == 0 && heads == kv_heads)
    text += "; heads that were pruned have to be named in its pruned_heads";
  return text;
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
    if (info && !is_matrix(info))
      layer.missing.push_back(fmt::format("{} as a matrix, not as ({}),", array, join(info->sizes, ",")));
    return is_matrix(info) ? info : nullptr;
  };
  if (layer.layout == latent) {
    set_latents(layer, files, needs);
  } else if (!family.qkv.empty()) {
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
      const ModelType* const type = layer.config ? find_model_type(layer.config->model_type) : nullptr;
      layer.gate_in_q = type && type->output_gate == OutputGate::in_queries && layer.q_rows % 2 == 0;
      if (layer.gate_in_q) layer.q_rows /= 2;
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
  set_widths(layer);
  set_pruned_heads(layer);
  account_for_tensors(layer, files);
  for (const LayerArray& array : arrays_of_layer(layer))
    if (const ArrayInfo* const info = files.find(array.name)) layer.arrays.emplace(array.name, *info);
  for (const std::vector<std::string>* norms : {&layer.q_norms, &layer.k_norms})
    for (const std::string& norm : *norms) layer.arrays.emplace(norm, *files.find(norm));
  return layer;
}

}  // namespace

std::span<const ModelFamily> model_families() {
  static const std::vector<ModelFamily> families = read_families();
  return families;
}

std::string_view layout_name(AttentionLayout layout) {
  constexpr std::string_view names[] = {"q, k and v separate, [out,in]",  // in the order of AttentionLayout
                                        "q, k, v packed in rows, [out,in]",
                                        "q, k, v packed in columns, [in,out]",
                                        "q, k, v of each head in turns, [out,in]",
                                        "q, and k and v packed, in columns, [in,out]",
                                        "q heads, k, v of each key/value head in turns, [out,in]",
                                        "k and v of one latent for each token, [out,in]"};
  return names[static_cast<std::size_t>(layout)];
}

Index relative_buckets_of(const AttentionLayer& layer) {
  constexpr Index most = 1 << 20;
  const RelativeBias usual;
  if (!layer.config) return usual.buckets;
  return JsonValue(*layer.config->settings, layer.config->where, config_format)
      .whole("relative_attention_num_buckets", usual.buckets, most);
}

std::string layer_array(const AttentionLayer& layer, std::string_view stem, const char* what) {
  return fmt::format("{}{}{}{}", layer.name, layer.name.empty() ? "" : ".", stem, what);
}

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
      const std::optional<std::string> before = prefix_before(name, family.first_stem());
      if (!before) continue;
      named.name = *before;
      const ArrayInfo* const output = files.find(layer_array(named, family.output, "weight"));
      if (!has_shape_of(family, info, output)) continue;
      const bool whole = output != nullptr;
      if (whole || (!of && !family.needs_output)) {
        of = &family;
        prefix = *before;
      }
      if (whole) break;
    }
    if (of) layers.emplace(name, layer_of(*of, prefix, files, found.config));
  }
  // Modules of latents may have a q_proj, by which other families are recognised.
  std::set<std::string> of_latents, of_others;
  for (const auto& [array, layer] : layers)
    (layer.layout == latent ? of_latents : of_others).insert(module_of(layer));
  std::erase_if(layers, [&](const auto& entry) {
    return entry.second.layout != latent && of_latents.contains(module_of(entry.second));
  });
  std::vector<LayerName> names;
  for (const auto& [array, layer] : layers) names.push_back({layer.name, layer.family});
  for (const auto& [name, family] : absent_layers(files, names)) {
    AttentionLayer absent = layer_of(*family, name, files, found.config);
    if ((absent.layout == latent ? of_others : of_latents).contains(module_of(absent))) continue;
    layers.emplace(layer_array(absent, family->first_stem(), "weight"), std::move(absent));
  }
  for (auto& [array, layer] : layers) found.layers.push_back(std::move(layer));
  std::ranges::stable_sort(found.layers, [](const AttentionLayer& a, const AttentionLayer& b) {
    return counts_before(a.name, b.name);
  });
  return found;
}

AttentionLayer with_heads(AttentionLayer layer, Index num_heads, Index num_kv_heads) {
  if (layer.num_heads) layer.head_dim.reset();  // of config.json's own number of heads
  layer.num_heads = num_heads;
  layer.num_kv_heads = num_kv_heads;
  if (layer.packed_rows > 0) split_packed_rows(layer);
  if (layer.layout == latent) split_latent_rows(layer);
  return layer;
}

std::string layer_problem(const AttentionLayer& layer) {
  if (is_absent(layer)) return "none of its attention arrays is there";
  if (!layer.missing.empty())
    return fmt::format("{} {} missing", join(layer.missing, ", "), layer.missing.size() == 1 ? "is" : "are");
  if (const std::string problem = problem_of_types(layer); !problem.empty()) return problem;
  if (!layer.num_heads) return "neither its arrays nor a config.json give its number of heads";
  const Index heads = *layer.num_heads, kv_heads = *layer.num_kv_heads;
  if (layer.hidden_size && *layer.hidden_size != layer.query_width)
    return fmt::format("q takes {} columns, but config.json gives a hidden_size of {}", layer.query_width,
                       *layer.hidden_size);
  if (heads % kv_heads != 0) return fmt::format("{} key/value heads do not divide {} heads", kv_heads, heads);
  if (layer.packed_rows > 0 && layer.q_rows + layer.k_rows + layer.v_rows != layer.packed_rows)
    return fmt::format("{} rows do not fit q, k and v of {} heads", layer.packed_rows, heads);
  if (layer.layout == latent)
    if (const std::string problem = latent_contradiction(layer); !problem.empty()) return problem;
  if (const std::string problem = indexer_contradiction(layer); !problem.empty()) return problem;
  if (layer.q_rows == 0 || layer.q_rows % heads != 0)
    return fmt::format("{} rows of q cannot be split into {} heads", layer.q_rows, heads);
  if (const std::string problem = head_dim_contradiction(layer); !problem.empty()) return problem;
  if (layer.k_rows != layer.q_rows / heads * kv_heads)
    return fmt::format("k has {} rows instead of {}, for {} heads of {}", layer.k_rows,
                       layer.q_rows / heads * kv_heads, kv_heads, layer.q_rows / heads);
  if (layer.v_rows == 0 || layer.v_rows % kv_heads != 0)
    return fmt::format("{} rows of v cannot be split into {} heads", layer.v_rows, kv_heads);
  const Index joined = layer.v_rows / kv_heads * heads;
  if (!layer.has_output && joined != layer.query_width)
    return fmt::format("without W_O its heads, {} columns together, are the output, which has {}", joined,
                       layer.query_width);
  return problem_of_sizes(layer);
}

}  // namespace headwise
