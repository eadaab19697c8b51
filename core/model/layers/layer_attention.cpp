#include "core/model/layers/layer_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/attention/relative_bias.h"
#include "core/model/config/model_types.h"
#include "core/model/files/model_json.h"
#include "core/model/layers/latent_layers.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr double most = 1e15;  // of a scale, a softcap, a bound: far from overflow
constexpr Index most_window = Index{1} << 40, most_blocks = Index{1} << 16;

// Everything that one layer's attention is read from.
struct Reading {
  const AttentionLayer& layer;
  const JsonValue& settings;
  const ModelType& type;
  LayerAttention& attention;

  bool reads(reads::Groups group) const { return (type.reads & group) != 0; }
  void warn(std::string sentence) const { attention.warnings.push_back(std::move(sentence)); }

  void leave_out(const char* what, const std::string& why) const {
    attention.left_out = fmt::format("{} are left out: {}", what, why);
    warn(attention.left_out);
  }

  // The entry of this layer in a list with one per layer; null if there is no list.
  const Json& of_layer(const char* key) const {
    const Json& list = settings.at(key);
    static const Json none;
    if (list.is_null() || (list.is_array() && list.empty())) return none;
    if (settings[key].list("a list with an entry for each layer");
        layer.number >= static_cast<Index>(list.size()))
      settings[key].refuse("an entry is missing", fmt::format("an entry for layer {}", layer.number));
    return list[static_cast<std::size_t>(layer.number)];
  }
};

// The columns of a head that RoPE can rotate: D, or R of a head of latents.
Index rotated_width(const AttentionLayer& layer) {
  return layer.layout == AttentionLayout::latent ? layer.qk_rope_head_dim : layer.q_rows / *layer.num_heads;
}

double head_dim(const AttentionLayer& layer) {
  return static_cast<double>(layer.q_rows / *layer.num_heads);
}

// Whether its name says that it is self-attention of a decoder;
// cross-attention sees all of the encoder's tokens.
bool is_in_decoder(const std::string& name) {
  return name.starts_with("decoder") || name.find(".decoder") != std::string::npos;
}

void read_sees(const Reading& read) {
  bool causal = read.type.sees == Sees::past;
  if (read.type.sees == Sees::past_in_decoder) causal = is_in_decoder(read.layer.name);
  if (read.type.sees == Sees::past_if_is_decoder) causal = read.settings.flag("is_decoder", false);
  if (read.type.sees == Sees::past_if_is_causal) causal = read.settings.flag("is_causal", true);
  read.attention.is_causal = causal && !read.layer.is_cross;
}

void read_scale(const Reading& read) {
  std::optional<double>& scale = read.attention.scale;
  if (!read.layer.family->scales) scale = 1.0;
  if (read.reads(reads::multiplier) ||
      (read.reads(reads::written_multiplier) && read.settings.has("attention_multiplier")))
    scale = read.settings.number("attention_multiplier", 1.0, most);
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

void read_norms_and_gate(const Reading& read) {
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
    read.leave_out("norms of q and k", "the file does not have the weights of both");
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
void read_indexer(const Reading& read) {
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

// Whether the layer has a window, if a model has both kinds.
bool has_window(const Reading& read) {
  const Json& kind = read.of_layer("layer_types");
  const std::string word = kind.is_string() ? kind.get<std::string>() : "";
  if (word == "sliding_attention") return true;
  if (word == "full_attention") return false;
  if (!kind.is_null()) {
    read.warn(fmt::format("config.json: layer_types[{}] = {} is not computed", read.layer.number,
                          json_as_written(kind, 40)));
    return false;
  }
  if (read.type.name == "gemma2") return read.layer.number % 2 == 0;
  // ModernBERT and Gemma 3 before layer_types: of so many layers the first, or the last, sees everything.
  if (read.reads(reads::half_windows)) {
    const Index every = read.settings.whole("global_attn_every_n_layers", 3, most_window);
    return every > 0 && read.layer.number % every != 0;
  }
  if (read.reads(reads::window_pattern)) {
    const Index pattern = read.settings.whole("sliding_window_pattern", 6, most_window);
    return pattern == 0 || (read.layer.number + 1) % pattern != 0;
  }
  // Cohere 2 before layer_types: every fourth layer sees everything.
  if (read.reads(reads::rope_in_windows)) {
    const Index pattern = read.settings.whole("sliding_window_pattern", 4, most_window);
    return pattern == 0 || (read.layer.number + 1) % pattern != 0;
  }
  // Qwen2's first layers see everything.
  const Index first = read.settings.whole(
      "max_window_layers", read.reads(reads::window_switch) ? read.type.first_windowed : 0, most_window);
  return read.layer.number >= first;
}

// GPT-Neo: "global" or "local" for each layer, explicitly or as [[["global", "local"], 12]], which repeats.
std::string kind_of_gpt_neo(const Reading& read) {
  const Json& written = read.of_layer("attention_layers");
  if (written.is_string()) return written.get<std::string>();
  const Json& types = read.settings.at("attention_types");
  Index first = 0;
  for (const Json& part : types.is_array() ? types : Json::array()) {
    if (!part.is_array() || part.size() != 2 || !part[0].is_array() || part[0].empty() ||
        !part[1].is_number_unsigned())
      break;
    const auto period = static_cast<Index>(part[0].size());
    const Index inner = read.layer.number - first;
    const auto times = part[1].get<std::uint64_t>();
    if (static_cast<std::uint64_t>(inner / period) < times) {
      const Json& kind = part[0][static_cast<std::size_t>(inner % period)];
      return kind.is_string() ? kind.get<std::string>() : "";
    }
    first += period * static_cast<Index>(times);
  }
  return types.is_null() ? read.layer.number % 2 == 0 ? "global" : "local" : "";
}

void read_local_window(const Reading& read) {
  if (!read.reads(reads::local_windows)) return;
  const std::string kind = kind_of_gpt_neo(read);
  const Index window = read.settings.whole("window_size", 256, most_window);
  if (kind == "local" && window > 0)
    read.attention.sliding_window = window;
  else if (kind != "global")
    read.warn("config.json: attention_types does not determine whether this layer has a window");
}

void read_window(const Reading& read) {
  if (read.reads(reads::half_windows) && has_window(read)) {
    const Index both = read.settings.whole("local_attention", 128, most_window);
    read.attention.sliding_window = both / 2 + 1;  // as many keys before a query as behind it
  }
  if (!read.reads(reads::window) || read.layer.is_cross) return;
  if (!read.settings.flag("use_sliding_window", !read.reads(reads::window_switch)) || !has_window(read))
    return;
  // An absent key means none, except for the two types that have a window unless null is given.
  const bool usual = read.reads(reads::window_by_default) && !read.settings.contains("sliding_window");
  const Index window = read.settings.whole("sliding_window", usual ? 4096 : 0, most_window);
  if (window > 0)
    read.attention.sliding_window = window;
  else if (read.settings.has("sliding_window"))
    read.warn(
        "config.json: sliding_window = 0, which transformers cannot compute: here the layer has no window");
}

// BigBird uses blocks only in texts longer than the reach of a block;
// in shorter ones its models see everything.
void read_block_sparse(const Reading& read) {
  if (!read.reads(reads::block_sparse) || read.layer.is_cross) return;
  const bool in_decoder = read.type.sees == Sees::past_in_decoder && is_in_decoder(read.layer.name);
  if (in_decoder || read.settings.text("attention_type", "block_sparse") == "original_full") return;
  const Index block = read.settings.whole("block_size", 64, most_window),
              random = read.settings.whole("num_random_blocks", 3, most_blocks);
  read.attention.limits.push_back(
      {(5 + 2 * random) * block,
       fmt::format("config.json: attention_type = \"block_sparse\": beyond {} tokens the model sees only "
                   "some blocks, but here each token sees all",
                   (5 + 2 * random) * block)});
}

void read_rotary(const Reading& read) {
  // Cohere 2 and EXAONE 4 rotate only in the layers with a window.
  const bool everywhere =
      read.reads(reads::rope_without_window) && read.settings.at("sliding_window").is_null();
  if (read.reads(reads::rope_in_windows) && !everywhere && !read.attention.sliding_window) return;
  if (read.reads(reads::no_rope)) {
    const Json& rotated = read.of_layer("no_rope_layers");
    const Index interval = read.settings.whole("no_rope_layer_interval", 4, most_window);
    const bool skipped = rotated.is_null() ? interval > 0 && (read.layer.number + 1) % interval == 0
                                           : (rotated.is_number() && rotated.get<double>() == 0.0) ||
                                                 (rotated.is_boolean() && !rotated.get<bool>());
    if (skipped) return;
  }
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
  // With a share of the columns a scenario has the frequencies as numbers, which follow no length.
  if (rotary.scaling && rotary.share < 1.0)
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

// Ministral 3 and Mistral 4 multiply the queries behind their first length by more than 1, more and more.
void read_query_growth(const Reading& read) {
  const Json& rope = read.settings.at("rope_parameters");
  if (!rope.is_object() || !rope.contains("llama_4_scaling_beta") || rope["llama_4_scaling_beta"].is_null())
    return;
  const Index longest =
      read.settings["rope_parameters"].whole("original_max_position_embeddings", 0, most_window);
  std::string sentence = fmt::format(
      "rope_parameters: llama_4_scaling_beta: the model multiplies queries from token {} on by a "
      "factor that is not computed",
      longest);
  if (longest > 0)
    read.attention.limits.push_back({longest, std::move(sentence)});
  else
    read.warn(std::move(sentence));
}

// Llama 4: layers that rotate see chunks of a text, and the others multiply their queries further behind by
// more than 1.
void read_chunks(const Reading& read) {
  if (!read.reads(reads::chunks)) return;
  const bool has_chunks =
      read.settings.has("attention_chunk_size") || !read.settings.contains("attention_chunk_size");
  const Json& kind = read.of_layer("layer_types");
  if (kind.is_string() ? kind == "chunked_attention" : read.attention.rotary && has_chunks) {
    const Index chunk = read.settings.whole("attention_chunk_size", 8192, most_window);
    read.attention.limits.push_back(
        {chunk,
         fmt::format("config.json: attention_chunk_size = {}: in a longer text this layer's model sees "
                     "only the chunk that a token is in, but here each token sees all before it",
                     chunk)});
  }
  const Json& tuning = read.settings.at("attn_temperature_tuning");  // a number in published files
  const bool tuned = tuning.is_null() || (tuning.is_boolean() ? tuning.get<bool>() : tuning != 0);
  if (read.attention.rotary || !tuned) return;
  const Index first = read.settings.whole("floor_scale", 8192, most_window) - 1;
  read.attention.limits.push_back(
      {first,
       fmt::format("config.json: attn_temperature_tuning: the model multiplies queries from token {} on "
                   "by a factor that is not computed",
                   first)});
}

// Falcon rounds the slopes, and their products with positions, to bfloat16, whose numbers have 8 significant
// bits: for slopes that are powers of two nothing is lost up to position 256.
void warn_of_rounded_alibi(const Reading& read) {
  const Index heads = *read.layer.num_heads;
  const bool powers_of_two = 8 % heads == 0;
  std::string sentence = "the model rounds ALiBi's biases to bfloat16, but here they are not rounded";
  if (powers_of_two)
    read.attention.limits.push_back({257, std::move(sentence)});
  else
    read.warn(std::move(sentence));
}

// T5's, whose decoder sees only keys behind; UDOP's encoder adds biases of places on a page.
void read_relative_bias(const Reading& read) {
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
void read_trained_positions(const Reading& read) {
  const char* const key = "position_embedding_type";
  const std::string kind = read.settings.text(key, "learned");
  if (kind == "rotary") read.attention.rotary = ModelRotary{};  // base 10000, all columns
  if (kind == "alibi") read.attention.alibi = true;
  if (kind == "relative_bias") read_relative_bias(read);
  constexpr std::array kinds{"none", "learned", "sinusoidal", "rotary", "alibi", "relative_bias"};
  if (std::ranges::find(kinds, kind) == kinds.end())
    read.settings[key].refuse("unknown choice", "none, learned, sinusoidal, rotary, alibi or relative_bias");
}

void read_positions(const Reading& read) {
  if (read.layer.is_cross) return;
  if (read.type.positions == InnerPositions::as_trained) return read_trained_positions(read);
  const std::string kind = read.settings.text("position_embedding_type", "absolute");
  const bool rotary_kind = kind == "rotary" && read.type.positions == InnerPositions::as_position_type;
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
  const Reading read{layer, settings, type, attention};
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
  read_window(read);
  read_local_window(read);
  read_block_sparse(read);
  read_indexer(read);
  read_positions(read);
  read_norms_and_gate(read);
  read_chunks(read);
  read_query_growth(read);
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
