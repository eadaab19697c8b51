#include "core/model/layers/layer_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/attention/relative_bias.h"
#include "core/model/files/model_json.h"
#include "core/model/layers/latent_layers.h"
#include "core/model/layers/layer_reading.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr double most = 1e15;  // of a scale, a softcap, a bound: far from overflow

// The columns of a head that RoPE can rotate: D, or R of a head of latents.
Index rotated_width(const AttentionLayer& layer) {
  return layer.layout == AttentionLayout::latent ? layer.qk_rope_head_dim : layer.q_rows / *layer.num_heads;
}

double head_dim(const AttentionLayer& layer) {
  return static_cast<double>(layer.q_rows / *layer.num_heads);
}

void read_sees(const LayerReading& read) {
  bool causal = read.type.sees == Sees::past;
  if (read.type.sees == Sees::past_in_decoder) causal = is_in_decoder(read.layer.name);
  if (read.type.sees == Sees::past_if_is_decoder) causal = read.settings.flag("is_decoder", false);
  if (read.type.sees == Sees::past_if_is_causal) causal = read.settings.flag("is_causal", true);
  read.attention.is_causal = causal && !read.layer.is_cross && !sees_both_ways(read);
}

void read_scale(const LayerReading& read) {
  std::optional<double>& scale = read.attention.scale;
  if (!read.layer.family->scales) scale = 1.0;
  if (read.reads(reads::multiplier) ||
      (read.reads(reads::written_multiplier) && read.settings.has("attention_multiplier")))
    scale = read.settings.number("attention_multiplier", read.type.usual_multiplier, most);
  const bool scalar_is_given =
      read.reads(reads::written_scalar) && read.settings.has("query_pre_attn_scalar");
  if (read.reads(reads::query_scalar) || scalar_is_given)
    scale = 1.0 / std::sqrt(read.settings.number("query_pre_attn_scalar", 256.0, most));
  if (read.reads(reads::gpt2_scale)) {
    const bool by_width = read.settings.flag("scale_attn_weights", true);
    const bool by_layer = read.settings.flag("scale_attn_by_inverse_layer_idx", false);
    if (!by_width) scale = 1.0;
    if (by_layer && !read.layer.is_cross)
      scale =
          scale.value_or(1.0 / std::sqrt(head_dim(read.layer))) / static_cast<double>(read.layer.number + 1);
  }
  // DeepSeek's YaRN multiplies the scale by the square of its length, m(mscale_all_dim).
  if (read.reads(reads::latents) && read.reads(reads::rope)) {
    const ModelRotary rotary = read_model_rotary(read.settings.json(), read.settings.place());
    if (rotary.scaling)
      if (const double length = yarn_length_of_scale(*rotary.scaling); length != 1.0)
        scale = length * length / std::sqrt(head_dim(read.layer));
  }
  // An explicit 1/√D is still 1/√D.
  if (scale && *scale == 1.0 / std::sqrt(head_dim(read.layer))) scale.reset();
  if (read.reads(reads::softcap)) {
    const Json& cap = read.settings.at("attn_logit_softcapping");
    const bool written = read.settings.contains("attn_logit_softcapping");
    read.attention.softcap =
        cap.is_null() && written ? 0.0 : read.settings.number("attn_logit_softcapping", 50.0, most);
  }
  if (read.reads(reads::clip) && read.settings.has("clip_qkv"))
    read.attention.clip_qkv = read.settings.number("clip_qkv", 1.0, most);
}

void read_norms_and_gate(const LayerReading& read) {
  LayerAttention& attention = read.attention;
  attention.output_gate = read.layer.gate_in_q || !read.layer.gate.empty();
  const bool trained = read.type.positions == InnerPositions::as_trained;  // with what its settings say
  // Ours have no weights (core/train/train_model.h), and no epsilon of their own.
  if (trained && read.settings.flag("qk_norm", false)) attention.qk_norm = QkNorm::per_head_after_rotary;
  if (read.type.has_sinks && read.layer.sinks.empty() && (!trained || read.settings.flag("sink", false)))
    read.leave_out("sinks", "the file has none");
  if (trained && read.layer.layout != AttentionLayout::latent && read.settings.has("kv_lora_rank"))
    read.leave_out("latents", "the file has none");
  if (trained && !attention.output_gate && read.settings.flag("output_gate", false))
    read.leave_out("output gates", "the file has none");
  const bool unweighted =
      !read.type.norms_have_weights && attention.rotary && read.settings.flag("use_qk_norm", true);
  const bool may_have_none = trained || !read.type.norms_have_weights || read.reads(reads::norm_switch) ||
                             read.layer.is_cross || !read.type.qk_norm;
  if (read.layer.q_norms.empty() && !may_have_none)
    read.leave_out("norms of q and k (QK-norm)", "the file does not have the weights of both");
  if (read.layer.q_norms.empty() && !unweighted) return;
  attention.qk_norm = read.type.qk_norm;
  attention.qk_norm_kind = read.type.qk_norm_kind;
  attention.qk_norm_offset = read.type.qk_norm_offset;
  attention.qk_norm_epsilon =
      read.settings.number(attention.qk_norm_kind == NormKind::layer ? "layer_norm_eps" : "rms_norm_eps",
                           read.type.usual_norm_epsilon, most);
}

// DeepSeek's sparse attention. A layer without an indexer of its own takes the choice of an earlier layer
// (GLM-MoE-DSA), which is not known here: for few tokens it is all of them.
void read_indexer(const LayerReading& read) {
  if (!read.reads(reads::indexer)) return;
  const Index k = read.settings.whole("index_topk", 2048, most_window);
  const Json& kind = read.of_layer("indexer_types");
  const bool is_shared = kind.is_string() && kind.get<std::string>() == "shared";
  if (std::optional<Indexer> indexer = indexer_sizes(read.layer); indexer && !is_shared && k > 0) {
    indexer->k = k;
    indexer->rotary_pairs = read.type.indexer_pairs;
    read.attention.indexer = indexer;
    return;
  }
  read.attention.limits.push_back(
      {k, fmt::format(
              "config.json: index_topk = {}: beyond {} tokens this layer looks at the keys that an earlier "
              "layer's indexer chose, but here at all",
              k, k)});
}

void read_rotary(const LayerReading& read) {
  // Cohere 2 and EXAONE 4 rotate only in the layers with a window.
  const bool everywhere = read.reads(reads::rope_without_window) &&
                          read.settings.contains("sliding_window") &&
                          read.settings.at("sliding_window").is_null();
  if (read.reads(reads::rope_in_windows) && !everywhere && !read.attention.sliding_window) return;
  if (read.reads(reads::no_rope) && has_no_positions(read)) return;
  const Json& written = read.of_layer("layer_types");
  std::string kind = written.is_string() ? written.get<std::string>() : "";
  if (written.is_null() && read.reads(reads::base_by_kind))
    kind = has_window(read) ? "sliding_attention" : "full_attention";
  ModelRotary rotary = read_model_rotary(read.settings.json(), read.settings.place(), kind);
  if (const Json& base = read.of_layer("layer_rope_theta"); read.reads(reads::layer_bases) && base.is_number()) {
    if (base == 0) return;
    if (base < 0)
      read.settings["layer_rope_theta"].refuse("out of range", "bases above 0, or 0 for no rotation");
    rotary.base = base.get<double>();
  }
  if (!read.reads(reads::partial_rope))
    rotary.share = 1.0;  // the setting is present but the model ignores it
  if (read.reads(reads::rotary_dim)) {
    // Null rotates all columns by the frequencies of a wider head, which GPT-J's own code cannot run.
    const Index width = read.settings.whole("rotary_dim", 64, most_window);
    rotary.share = static_cast<double>(width) / head_dim(read.layer);
    if (width < 2 || rotary.share > 1.0 || read.settings.at("rotary_dim").is_null())
      return read.leave_out("rotary positions", fmt::format("config.json: rotary_dim = {} of {} columns",
                                                            json_as_written(read.settings.at("rotary_dim"), 40),
                                                            head_dim(read.layer)));
  }
  const bool interleaved = !read.reads(reads::rope_interleave) || read.settings.flag("rope_interleave", true);
  if (read.type.positions == InnerPositions::rotary_neighbours && interleaved)
    rotary.pairs = RotaryPairs::neighbours;
  if (!rotary.unsupported.empty())
    read.warn(fmt::format("this model's rotary positions are not computed: {}", rotary.unsupported));
  // Of a rotation the other way a scenario has the frequencies as numbers, which follow no length.
  if (rotary.scaling && rotary.backwards)
    if (const auto longest = rotary_scaling_limit(*rotary.scaling))
      read.attention.limits.push_back(
          {*longest,
           fmt::format("rope_scaling: beyond {} tokens the model rotates by other frequencies", *longest)});
  if (rotary_width(rotary, rotated_width(read.layer)) > 0)
    read.attention.rotary = std::move(rotary);
  else
    read.leave_out(
        "rotary positions",
        fmt::format("they rotate pairs of columns, and a share of {:g} of {} columns is not an even number",
                    rotary.share, head_dim(read.layer)));
}

// Falcon rounds the slopes, and their products with positions, to bfloat16, whose numbers have 8 significant
// bits: for slopes that are powers of two nothing is lost up to position 256.
void warn_of_rounded_alibi(const LayerReading& read) {
  const Index heads = *read.layer.num_heads;
  const bool powers_of_two = 8 % heads == 0;
  std::string sentence = "the model rounds ALiBi's biases to bfloat16, but here they are not rounded";
  if (powers_of_two)
    read.attention.limits.push_back({257, std::move(sentence)});
  else
    read.warn(std::move(sentence));
}

// T5's, whose decoder sees only keys behind; UDOP's encoder adds biases of places on a page.
void read_relative_bias(const LayerReading& read) {
  const bool elsewhere =
      read.type.positions == InnerPositions::relative_in_decoder && !read.attention.is_causal;
  if (read.layer.relative_bias.empty() || elsewhere)
    return read.warn(elsewhere ? "relative_bias is left out: its biases for places on a page are not computed"
                               : "relative_attention_bias is left out: the file has no table of it");
  RelativeBias& bias = read.attention.relative_bias.emplace();
  bias.buckets = relative_buckets_of(read.layer);
  bias.max_distance = read.settings.whole("relative_attention_max_distance", bias.max_distance, most_window);
  bias.bidirectional = !read.attention.is_causal;
  if (const std::string problem = relative_bias_problem(bias); !problem.empty()) {
    read.attention.relative_bias.reset();
    read.warn(fmt::format("config.json: relative_attention_bias is left out: {}", problem));
  }
}

// By the names of core/train; learned and sinusoidal positions are added to the embeddings.
void read_trained_positions(const LayerReading& read) {
  const char* const key = "position_embedding_type";
  const std::string kind = read.settings.text(key, "learned");
  if (kind == "rotary") read.attention.rotary = ModelRotary{};  // base 10000, all columns
  if (kind == "alibi") read.attention.alibi = true;
  if (kind == "relative_bias") read_relative_bias(read);
  constexpr std::array kinds{"none", "learned", "sinusoidal", "rotary", "alibi", "relative_bias"};
  if (std::ranges::find(kinds, kind) == kinds.end())
    read.settings[key].refuse("unknown choice", "none, learned, sinusoidal, rotary, alibi or relative_bias");
}

void read_positions(const LayerReading& read) {
  if (read.layer.is_cross) return;
  if (read.type.positions == InnerPositions::as_trained) return read_trained_positions(read);
  const std::string kind = read.settings.text("position_embedding_type", "absolute");
  const bool rotary_kind =
      kind == read.type.rotary_word && read.type.positions == InnerPositions::as_position_type;
  // Relative ones have a tensor of their own if they are computed;
  // sinusoidal ones are added to the embeddings.
  const bool by_tensor = kind.starts_with("relative_key") || kind == "sinusoidal";
  if (read.reads(reads::position_type) && kind != "absolute" && !rotary_kind && !by_tensor)
    read.warn(fmt::format("config.json: position_embedding_type = {} is not computed", one_line(kind, 40)));
  switch (read.type.positions) {
    case InnerPositions::none:
    case InnerPositions::as_trained:
      return;
    case InnerPositions::rotary:
    case InnerPositions::rotary_neighbours:
      return read_rotary(read);
    case InnerPositions::as_position_type:
      if (rotary_kind) read_rotary(read);
      return;
    case InnerPositions::alibi:
      read.attention.alibi = true;
      return;
    case InnerPositions::alibi_or_rotary:
      if (!read.settings.flag("alibi", false)) return read_rotary(read);
      read.attention.alibi = true;
      read.attention.alibi_scale = 1.0 / std::sqrt(head_dim(read.layer));
      return warn_of_rounded_alibi(read);
    case InnerPositions::relative:
    case InnerPositions::relative_in_decoder:
      return read_relative_bias(read);
  }
}

// A type for a family known only by the names of its tensors.
ModelType type_of_family(const ModelFamily& family) {
  ModelType type;
  type.sees = family.is_causal ? Sees::past : Sees::all_tokens;
  if (family.positions == "rotary") type.positions = InnerPositions::rotary;
  if (family.positions == "ALiBi") type.positions = InnerPositions::alibi;
  if (family.positions == "relative") type.positions = InnerPositions::relative;
  if (family.positions == "rotary") type.reads = reads::rope | reads::window | reads::partial_rope;
  return type;
}

// Families published with a config.json: without one only the names of tensors are known.
bool needs_config(const ModelFamily& family) {
  return !family.positions.empty() || family.name == "GPT-2" || family.name.starts_with("BART") ||
         family.name.starts_with("OPT") || family.name.starts_with("T5");
}

std::string type_warning(const AttentionLayer& layer, const ModelType* type) {
  if (layer.config) {
    const std::string& whole = layer.config->whole_type;
    if (!whole.empty() && !is_composite_type(whole) && !find_model_type(whole))
      return fmt::format(
          "config.json: model_type = \"{}\" is not known: how it uses the attention of its parts is not "
          "computed",
          one_line(whole, 40));
  }
  if (type) return "";
  const std::string_view family = layer.family->name;
  if (layer.config && layer.config->model_type.empty() && !layer.config->whole_type.empty())
    return fmt::format(
        "{}: there is no model_type: the layer is computed like {}'s, going by the names of its tensors",
        layer.config->where.substr(layer.config->where.rfind('/') + 1), family);
  if (!layer.config)
    return needs_config(*layer.family) ? fmt::format(
                                             "no config.json gives the kind of model: the layer is computed "
                                             "like {}'s, going by the names of its tensors",
                                             family)
                                       : "";
  const bool named = !layer.config->model_type.empty();
  if (!named && !needs_config(*layer.family)) return "";
  return fmt::format(
      "config.json: {}: the layer is computed like {}'s, going by the names of its tensors",
      named ? fmt::format("model_type = \"{}\" is not known", one_line(layer.config->model_type, 40))
            : "there is no model_type",
      family);
}

// By the part of their names after the layer's own: "self_attn.q_norm.weight".
std::string unused_tensors_warning(const AttentionLayer& layer) {
  constexpr std::size_t most_names = 4;
  const std::size_t before = layer.name.empty() ? 0 : layer.name.size() + 1,
                    count = layer.unused_tensors.size();
  std::vector<std::string> names;
  for (const std::string& tensor : layer.unused_tensors)
    if (names.size() < most_names) names.push_back(tensor.substr(before));
  std::string text = join(names, ", ");
  if (names.size() < count) text += fmt::format(" and {} more", count - names.size());
  return count == 1 ? text + " is not used: its effect in this layer is not computed"
                    : text + " are not used: their effect in this layer is not computed";
}

}  // namespace

LayerAttention layer_attention(const AttentionLayer& layer) {
  LayerAttention attention;
  const ModelType* const known = layer.config ? find_model_type(layer.config->model_type) : nullptr;
  ModelType type = known ? *known : type_of_family(*layer.family);
  if (!known && layer.name.find("encoder.") != std::string::npos) type.sees = Sees::all_tokens;
  if (layer.has_pruned_heads) type.reads |= reads::pruned_heads;
  const Json none;
  const JsonValue settings(layer.config ? *layer.config->settings : none,
                           layer.config ? layer.config->where : "", config_format);
  const LayerReading read{layer, settings, type, attention};
  if (std::string warning = type_warning(layer, known); !warning.empty()) read.warn(std::move(warning));
  if (layer.layout == AttentionLayout::latent) {
    attention.kv_lora_rank = layer.kv_lora_rank;
    if (layer.q_lora_rank > 0) attention.q_lora_rank = layer.q_lora_rank;
    attention.qk_nope_head_dim = qk_nope_head_dim(layer);
    attention.qk_rope_head_dim = layer.qk_rope_head_dim;
    attention.latent_norm_epsilon = type.usual_norm_epsilon;
  }
  read_sees(read);
  read_scale(read);
  read_windows(read);
  read_indexer(read);
  read_positions(read);
  read_norms_and_gate(read);
  read_chunks_and_growth(read);
  if (const Json& bias = settings.at("attention_bias");
      layer.has_bias && bias.is_boolean() && !bias.get<bool>())
    read.warn(
        "config.json: attention_bias = false, but this layer has biases: they are added here, while the "
        "model ignores them");
  if (layer.config)
    for (std::string& warning : settings_not_computed(settings.json(), known ? &type : nullptr, type.reads))
      read.warn(std::move(warning));
  if (!layer.unused_tensors.empty()) read.warn(unused_tensors_warning(layer));
  return attention;
}

}  // namespace headwise
