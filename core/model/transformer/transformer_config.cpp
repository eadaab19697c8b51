#include "core/model/transformer/transformer_config.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/attention/attention_mask.h"
#include "core/files/json_value.h"
#include "core/files/png_file.h"
#include "core/model/layers/layer_attention.h"
#include "core/model/transformer/activation.h"
#include "core/model/transformer/feed_forward.h"
#include "core/model/transformer/transformer_weights.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr const char* layer_remedy = "a layer's real parameters can still be used, with other inputs";
constexpr Index most_positions = Index{1} << 24, most_layers = Index{1} << 24;
constexpr double most_factor = 1e15;

[[noreturn]] void fail(const std::string& where, const std::string& what, const std::string& got,
                       const std::string& expected) {
  throw Error(ExitStatus::input, {where, what, got, expected, layer_remedy});
}

using Settings = JsonValue;

// Throws for settings that change what is computed and are not computed here.
void refuse_other_settings(const Settings& settings) {
  const auto only = [&](const char* key, bool wanted) {
    if (settings.flag(key, wanted) != wanted) settings[key].refuse("out of range", wanted ? "true" : "false");
  };
  only("is_decoder", false);
  only("scale_attn_by_inverse_layer_idx", false);
  only("add_cross_attention", false);
  only("layer_norm_elementwise_affine", true);
  only("apply_residual_connection_post_layernorm", false);
}

// Layers of another kind are none of those found: a text cannot go through what is between them.
void refuse_other_layers(const Settings& settings) {
  const Json& kinds = settings.at("layer_types");
  const auto is_softmax = [](const Json& kind) {
    return kind == "full_attention" || kind == "sliding_attention" || kind == "chunked_attention";
  };
  if (!kinds.is_array() || std::ranges::all_of(kinds, is_softmax)) return;
  const auto other = std::ranges::find_if_not(kinds, is_softmax);
  const std::string kind = other->is_string() ? other->get<std::string>() : "no name";
  settings["layer_types"].refuse_got(
      "a text cannot go through every layer",
      fmt::format("layer {} of the kind {}, and {} of {} layers with a softmax", other - kinds.begin(),
                  one_line(kind, 40), std::ranges::count_if(kinds, is_softmax), kinds.size()),
      "full_attention and sliding_attention alone", layer_remedy);
}

// "bert." for "bert.encoder.layer.0".
std::string root_of(const ModelFiles& files, const AttentionLayer& first, const TransformerNames& names) {
  const std::string ending = fmt::format("{}0{}", names.blocks, names.attention_in_block);
  if (!first.name.ends_with(ending) ||
      (first.name.size() > ending.size() && first.name[first.name.size() - ending.size() - 1] != '.')) {
    fail(files.path(), "the layers' names are not those of this family",
         fmt::format("{} ({})", first.name, first.family->name), ending);
  }
  return first.name.substr(0, first.name.size() - ending.size());
}

const std::vector<Index>& matrix_sizes(const ModelFiles& files, const std::string& name) {
  const ArrayInfo* const info = files.find(name);
  if (!info) fail(files.path(), "an array of the encoder is missing", "", name);
  if (info->sizes.size() != 2 || info->sizes[0] == 0 || info->sizes[1] == 0) {
    fail(files.path() + ": " + name, "an array has the wrong shape",
         fmt::format("({})", join(info->sizes, ",")), "a matrix");
  }
  return info->sizes;
}

void read_words(TransformerConfig& config, const ModelFiles& files) {
  const std::vector<Index>& words = matrix_sizes(files, words_name(*config.names, files, config.root));
  config.vocabulary = words[0];
  const std::string_view projection = config.names->embedding_projection;
  const bool projected =
      !projection.empty() && files.find(fmt::format("{}{}weight", config.root, projection)) != nullptr;
  const bool any_width = projected || !config.names->first_projection.empty();
  config.word_width = any_width ? words[1] : config.embed_dim;
}

// A setting that is one number, or a list of two: of the height and of the width.
std::array<Index, 2> height_and_width(const Settings& settings, const char* key, Index otherwise) {
  const Settings value = settings[key];
  if (!value.json().is_array()) {
    const Index one = settings.whole(key, otherwise, most_png_side);
    return {one, one};
  }
  const std::vector<Settings> entries = value.entries();
  if (entries.size() != 2) value.refuse("wrong length", "one number, or a height and a width");
  return {entries[0].integer(1, most_png_side), entries[1].integer(1, most_png_side)};
}

void read_patches(TransformerConfig& config, const Settings& settings, const ModelFiles& files) {
  constexpr Index colours = 3;
  const TransformerNames& names = *config.names;
  const auto found = [&](std::string_view name, std::size_t rank) -> const std::vector<Index>& {
    const std::string whole = config.root + std::string(name);
    const ArrayInfo* const info = files.find(whole);
    if (!info) fail(files.path(), "an array of the encoder is missing", "", whole);
    if (info->sizes.size() != rank || std::ranges::find(info->sizes, 0) != info->sizes.end())
      fail(files.path() + ": " + whole, "an array has the wrong shape",
           fmt::format("({})", join(info->sizes, ",")), fmt::format("{} axes", rank));
    return info->sizes;
  };
  const std::vector<Index>& kernel = found(std::string(names.patch_projection) + "weight", 4);
  if (kernel[1] != colours)
    fail(files.path(), "the pictures of this model do not have three colours",
         fmt::format("{} channels", kernel[1]), "3, for red, green and blue");
  const auto [height, width] = height_and_width(settings, "image_size", 224);
  PatchGrid& grid = config.patches.emplace(
      PatchGrid{kernel[1], height, width, kernel[2], kernel[3], names.distillation_token.empty() ? 1 : 2});
  const Index positions = found(names.position_embeddings, 3)[1];
  if (grid.tokens() != positions)
    fail(files.path(), "config.json and the arrays disagree",
         fmt::format("image_size {} × {} in config.json, {} tokens with patches of {} × {}", width, height,
                     grid.tokens(), grid.patch_width, grid.patch_height),
         fmt::format("{}, as {} has positions", positions, names.position_embeddings));
  config.word_width = config.embed_dim;
  config.positions = PositionKind::learned;
  config.max_positions = positions;
  for (const LmHeadNames& head : names.heads)
    if (const std::string name = find_under_root(files, config.root, head.decoder);
        !name.empty() && config.vocabulary == 0)
      config.vocabulary = matrix_sizes(files, name)[0];
}

void read_sizes(TransformerConfig& config, const Settings& settings, const ModelFiles& files,
                const AttentionLayers& layers) {
  const AttentionLayer& first = layers.layers.front();
  if (const std::string problem = layer_problem(first); !problem.empty())
    fail(files.path() + ": " + first.name, "this layer cannot be computed: " + problem, "", "");
  const ModelConfig& model = *layers.config;
  config.embed_dim = first.query_width;
  config.num_heads = *first.num_heads;
  config.num_kv_heads = *first.num_kv_heads;
  config.head_dim = first.q_rows / config.num_heads;
  config.v_head_dim = first.v_rows / config.num_kv_heads;
  config.has_output_projection = first.has_output;
  const auto agree = [&](const char* what, const std::optional<Index>& said, Index there) {
    if (said && *said != there) {
      fail(files.path(), "config.json and the arrays disagree",
           fmt::format("{} = {} in config.json", what, *said),
           fmt::format("{}, as in the arrays of {}", there, first.name));
    }
  };
  agree("hidden_size", model.embed_dim, config.embed_dim);
  agree("head_dim", model.head_dim, config.head_dim);
  config.num_layers = model.num_layers.value_or(static_cast<Index>(layers.layers.size()));
  if (config.names->patch_projection.empty())
    read_words(config, files);
  else
    read_patches(config, settings, files);
  if (!settings.flag(config.names->feed_forward_key, true)) return;
  const auto feed_in = [&] { return fmt::format("{}weight", in_block(config, first, config.feed_in)); };
  config.feed_in = config.names->feed_in;
  config.feed_gate = config.names->feed_gate;
  if (!config.names->gated_feed_in.empty() && !files.find(feed_in())) {
    config.feed_in = config.names->gated_feed_in;
    config.feed_gate = config.names->gated_feed_gate;
  }
  const auto with_experts = [&](const AttentionLayer& layer) { return has_experts(config, files, layer); };
  if (std::ranges::any_of(layers.layers, with_experts)) {
    config.chosen_experts = settings.whole("num_experts_per_tok", 0, most_layers);
    const std::string_view key = config.names->expert_share_key;
    config.weighs_chosen_experts = key.empty() || settings.flag(key, false);
    if (config.names->joined_experts)
      config.clamped_gate = ClampedGate{settings.number("swiglu_alpha", ClampedGate{}.alpha, most_factor),
                                        settings.number("swiglu_limit", ClampedGate{}.limit, most_factor)};
  }
  if (with_experts(first)) {
    config.feed_forward_dim = expert_width(config, files, first);
    return;
  }
  const std::vector<Index>& feed = matrix_sizes(files, feed_in());
  config.feed_forward_dim = feed[config.names->conv1d ? 1 : 0] / (config.names->gate_is_in_feed_in ? 2 : 1);
}

void read_rotation(TransformerHeads& heads, const Settings& settings, const ModelRotary& rotary) {
  if (!rotary.unsupported.empty())
    fail(settings.place(), "these rotary positions are not computed", rotary.unsupported, "");
  const Index turned = heads.options.qk_rope_head_dim.value_or(heads.head_dim);  // the last columns
  const Index width = rotary_width(rotary, turned);
  if (const std::string problem = rotary.scaling ? rotary_scaling_problem(*rotary.scaling, width) : "";
      width > 0 && !problem.empty())
    fail(settings.place(), "rope_scaling " + problem, "", "");
  heads.rotation = model_rotation(rotary, turned);
  heads.rotation.first = heads.head_dim - turned;
  if (!heads.rotation) {
    fail(settings.place(), "rotary positions rotate pairs of columns",
         fmt::format("{:g} of a head's {}", rotary.share, turned), "an even number of columns");
  }
  if (rotary.scaling && rotary_scaling_limit(*rotary.scaling)) heads.by_length = rotary;
}

// What the attention of each layer computes; `is_known`: config.json has a model_type.
void read_attention(TransformerConfig& config, const Settings& settings, const ModelFiles& files,
                    const AttentionLayers& layers, bool is_known) {
  const bool rotates = layers.layers.front().family->positions == "rotary";
  for (const AttentionLayer& layer : layers.layers) {
    const auto refuse = [&](const std::string& what) {
      fail(files.path() + ": " + layer.name, "the encoder does not compute this", what, "");
    };
    const LayerAttention attention = layer_attention(layer);
    TransformerHeads& heads = config.attention.emplace_back(TransformerHeads{config.num_heads,
                                                                             config.num_kv_heads,
                                                                             config.head_dim,
                                                                             config.v_head_dim,
                                                                             attention.is_causal,
                                                                             attention.sliding_window,
                                                                             {},
                                                                             attention.scale,
                                                                             attention.softcap,
                                                                             {},
                                                                             attention});
    if (attention.alibi) heads.alibi_slopes = alibi_slopes(config.num_heads);
    if (attention.rotary)
      read_rotation(heads, settings, *attention.rotary);
    else if (rotates && !is_known)
      read_rotation(heads, settings, layers.config->rotary);
    if (layer.gate_in_q) refuse("an output gate among the rows of its queries");
    if (attention.clip_qkv) refuse("clip_qkv");
    if (attention.q_lora_rank) refuse("compressed queries (q_lora_rank)");
    if (layer.family->positions == "relative" && !attention.relative_bias)
      refuse("a relative bias without its table");
    if (!attention.left_out.empty()) refuse(attention.left_out);
  }
  config.is_causal = config.attention.front().is_causal;
}

// Positions that a family's layers see inside attention: `inside` is their kind.
void read_positions_inside(TransformerConfig& config, const Settings& settings, std::string_view inside) {
  config.positions = inside == "ALiBi"      ? PositionKind::alibi
                     : inside == "relative" ? PositionKind::relative
                                            : PositionKind::rotary;
  config.max_positions = most_positions;
  if (config.positions == PositionKind::relative) return;
  config.max_positions =
      settings.whole(inside == "ALiBi" ? "seq_length" : "max_position_embeddings", 2048, most_positions);
}

void read_positions(TransformerConfig& config, const Settings& settings, const ModelFiles& files,
                    const std::string& type) {
  const TransformerNames& names = *config.names;
  config.first_position = names.first_position;
  const std::string kind = settings.text("position_embedding_type", "absolute");
  if (kind == "sinusoidal") {
    config.positions = PositionKind::sinusoidal;
    config.max_positions = settings.whole("max_position_embeddings", 512, most_positions);
    return;
  }
  if (kind != "absolute")
    settings["position_embedding_type"].refuse("unknown choice", "absolute or sinusoidal");
  if (type == "roberta" || type == "xlm-roberta" || type == "camembert") {
    config.padding_id = settings.whole("pad_token_id", 1, most_positions);
    config.first_position = *config.padding_id + 1;
  }
  const Index rows = matrix_sizes(files, config.root + std::string(names.position_embeddings))[0];
  if (rows <= config.first_position) {
    fail(files.path() + ": " + config.root + std::string(names.position_embeddings),
         "there is no row for a position", fmt::format("{} rows", rows),
         fmt::format("more than {}", config.first_position));
  }
  config.max_positions = rows - config.first_position;
}

// By the names of core/train, whose texts have at most max_position_embeddings tokens.
void read_named_positions(TransformerConfig& config, const Settings& settings, const ModelFiles& files,
                          const LayerAttention& attention) {
  const std::string kind = settings.text("position_embedding_type", "learned");
  config.positions = kind == "sinusoidal" ? PositionKind::sinusoidal : PositionKind::none;
  if (attention.alibi || attention.rotary)
    config.positions = attention.alibi ? PositionKind::alibi : PositionKind::rotary;
  if (attention.relative_bias) config.positions = PositionKind::relative;
  config.max_positions = settings.whole("max_position_embeddings", 0, most_positions);
  if (config.max_positions == 0) settings["max_position_embeddings"].refuse("out of range", "1 or more");
  if (kind != "learned") return;
  config.positions = PositionKind::learned;
  const std::string name = config.root + std::string(config.names->position_embeddings);
  const Index rows = matrix_sizes(files, name)[0];
  if (rows != config.max_positions)
    fail(files.path() + ": " + name, "config.json and the arrays disagree", fmt::format("{} rows", rows),
         fmt::format("max_position_embeddings = {}", config.max_positions));
}

// Where the norms and the biases of the blocks are, and in which order their two parts run.
void read_block_kind(TransformerConfig& config, const Settings& settings) {
  constexpr double most_epsilon = 1.0;
  const TransformerNames& names = *config.names;
  config.activation = read_activation(settings, config);
  for (const LmHeadNames& head : names.heads)
    config.head_activations.push_back(read_head_activation(settings, config, head));
  config.norm = names.norm;
  config.norm_epsilon = settings.number(names.epsilon_key, names.epsilon, most_epsilon);
  const bool before = !names.final_norm.empty() && settings.flag(names.norm_before_key, true);
  config.norm_place = before ? NormPlace::before : NormPlace::after;
  if (!settings.flag(names.norms_key, true)) config.norm_place = NormPlace::none;
  config.has_final_norm =
      config.norm_place == NormPlace::before && !settings.flag(names.no_final_norm_key, false);
  config.is_parallel = settings.flag(names.parallel_key, names.is_parallel);
  const auto factor = [&](std::string_view key, double usual) {
    return settings.number(key, usual, most_factor);
  };
  config.embedding_factor = factor(names.embedding_factor_key, 1.0);
  if (names.scales_words) config.embedding_factor *= std::sqrt(static_cast<double>(config.embed_dim));
  config.residual_factor = factor(names.residual_factor_key, 1.0);
  config.logits_factor =
      factor(names.logits_factor_key, names.logits_factor) / factor(names.logits_divisor_key, 1.0);
  const bool no_cap = settings.contains(names.logits_cap_key) && settings.at(names.logits_cap_key).is_null();
  config.logits_cap = no_cap ? 0.0 : factor(names.logits_cap_key, names.logits_cap);
  const Biases usual = names.has_bias ? Biases::all : Biases::as_in_file;
  const bool any = settings.flag(names.bias_key, true);
  config.feed_forward_biases = any ? usual : Biases::none;
  config.attention_biases = any && settings.flag(names.attention_bias_key, true) ? usual : Biases::none;
}

// Arrays outside of the blocks that config.json leaves no place for.
void refuse_other_arrays(const TransformerConfig& config, const ModelFiles& files) {
  const TransformerNames& names = *config.names;
  const auto is_used = [&](std::string_view name) {
    if (name.starts_with(names.blocks) || name == names.word_embeddings) return true;
    if (name == names.position_embeddings) return config.positions == PositionKind::learned;
    if (name.starts_with(names.final_norm)) return config.has_final_norm;
    return name == names.heads[0].decoder && !config.tie_word_embeddings.value_or(false);
  };
  for (const auto& [name, info] : files.arrays()) {
    if (name.starts_with(config.root) && is_used(std::string_view(name).substr(config.root.size()))) continue;
    fail(files.path() + ": " + name, "the model has an array that its config.json leaves no place for",
         fmt::format("({})", join(info.sizes, ",")), "the arrays that the settings name");
  }
}

}  // namespace

AttentionLayers layers_of_text(const AttentionLayers& layers) {
  AttentionLayers own = layers;
  const auto is_in_encoder = [](const AttentionLayer& layer, const TransformerNames& names) {
    const std::size_t at = layer.name.find(names.blocks);
    return at != std::string::npos && (at == 0 || layer.name[at - 1] == '.');
  };
  const auto has_known_encoder = [&](const AttentionLayer& layer) {
    const TransformerNames* const names = find_transformer_names(layer.family->name);
    return names && names->is_encoder && is_in_encoder(layer, *names);
  };
  if (std::ranges::any_of(layers.layers, has_known_encoder))
    std::erase_if(own.layers, [&](const AttentionLayer& layer) { return !has_known_encoder(layer); });
  return own;
}

TransformerConfig read_transformer_config(const ModelFiles& files, const AttentionLayers& layers) {
  if (layers.layers.empty()) fail(files.path(), "no attention layer was recognised in this model", "", "");
  const AttentionLayer& first = layers.layers.front();
  TransformerConfig config;
  if (!find_transformer_names(first.family->name)) {
    std::vector<std::string_view> families;
    for (const TransformerNames& names : transformer_names())
      if (std::ranges::find(families, names.family) == families.end()) families.push_back(names.family);
    fail(files.path(), "the blocks of this family are not computed", std::string(first.family->name),
         join(families, "; "));
  }
  if (!layers.config) {
    fail(files.path(), "there is no config.json next to the model", "",
         "one that gives the number of heads and the kind of blocks");
  }
  static constexpr JsonFormat format{
      .dialect = JsonDialect::python, .problem = "the encoder does not compute this", .remedy = layer_remedy};
  const Settings settings(*layers.config->settings, layers.config->where, format);
  refuse_other_layers(settings);
  const std::string type = settings.text("model_type", "");
  config.names = find_transformer_names(first.family->name, type);
  if (!type.empty() && std::ranges::find(config.names->model_types, type) == config.names->model_types.end()) {
    std::vector<std::string_view> known;
    for (const TransformerNames& names : transformer_names())
      if (names.family == config.names->family)
        known.insert(known.end(), names.model_types.begin(), names.model_types.end());
    settings["model_type"].refuse("unknown choice", join(known, ", "));
  }
  config.root = root_of(files, first, *config.names);
  for (const AttentionLayer& layer : layers.layers) {
    const std::string blocks = config.root + std::string(config.names->blocks);
    if (layer.family != first.family || !layer.name.starts_with(blocks)) {
      fail(files.path(), "the layers are not a single stack of blocks of one kind",
           fmt::format("{} ({})", layer.name, layer.family->name), blocks + "…");
    }
  }
  refuse_other_settings(settings);
  read_sizes(config, settings, files, layers);
  if (config.patches) {
    // read with its sizes
  } else if (config.names->is_of_training) {
    read_named_positions(config, settings, files, layer_attention(first));
  } else if (config.names->position_embeddings.empty()) {
    read_positions_inside(config, settings, first.family->positions);
  } else {
    read_positions(config, settings, files, type);
  }
  read_attention(config, settings, files, layers, !type.empty());
  read_block_kind(config, settings);
  const Json& tie = settings.at("tie_word_embeddings");
  if (!tie.is_null()) config.tie_word_embeddings = settings.flag("tie_word_embeddings", true);
  if (config.names->is_of_training) refuse_other_arrays(config, files);
  return config;
}

PredictedToken predicted_token(const TransformerConfig& config) {
  if (config.patches) return PredictedToken::picture_class;
  if (config.names->is_of_training) return PredictedToken::answer;
  return config.is_causal ? PredictedToken::next : PredictedToken::in_place;
}

std::string blocks_text(const TransformerConfig& config) {
  const char* const norm = config.norm == NormKind::rms ? "RMSNorm" : "LayerNorm";
  const char* const positions = config.positions == PositionKind::rotary       ? "rotary"
                                : config.positions == PositionKind::alibi      ? "ALiBi"
                                : config.positions == PositionKind::sinusoidal ? "sinusoidal"
                                : config.positions == PositionKind::relative   ? "relative"
                                : config.positions == PositionKind::none       ? "no"
                                                                               : "learned";
  const bool adds_normed = !config.names->attention_output_norm.empty();
  const std::string blocks =
      config.norm_place == NormPlace::after  ? fmt::format("post-{} blocks", norm)
      : config.norm_place == NormPlace::none ? "blocks without norms"
      : config.names->attention_norm.empty()
          ? fmt::format("blocks with {} of what is added", norm)
          : fmt::format("pre-{} blocks{}", norm, adds_normed ? " with a norm of what is added" : "");
  const std::string feed_forward =
      config.feed_forward_dim == 0
          ? "no feed-forward part"
          : fmt::format(
                "{}{}{}", activation_name(config.activation), is_gated(config) ? " gated" : "",
                config.chosen_experts == 0 ? "" : fmt::format(" in {} experts a token", config.chosen_experts));
  if (const auto& grid = config.patches)
    return fmt::format("{}, {}, {} × {} patches of {} × {} pixels, {} tokens", blocks, feed_forward,
                       grid->columns(), grid->rows(), grid->patch_width, grid->patch_height, grid->tokens());
  const std::string most =
      config.max_positions == most_positions ? "" : fmt::format(" (at most {} tokens)", config.max_positions);
  return fmt::format(
      "{}{}, {}{}, {} positions{}", blocks, config.is_parallel ? ", both parts side by side" : "",
      config.has_output_projection ? "" : "no output projection, ", feed_forward, positions, most);
}

}  // namespace headwise
